#include "manager/client/watch_session.h"

#include <utility>

#include "manager/client/response_error.h"

namespace mandate {

std::unique_ptr<Stream> WatchSession::Handle(std::shared_ptr<WatchSession> session) {
  struct Releasing : Stream {
    explicit Releasing(std::shared_ptr<WatchSession> s) : session(std::move(s)) {}
    ~Releasing() override { session->Release(); }
    const std::shared_ptr<WatchSession> session;
  };
  return std::make_unique<Releasing>(std::move(session));
}

std::unique_ptr<Stream> WatchSession::Reject(Loop& loop, std::shared_ptr<StreamSink> sink,
                                             absl::Status error) {
  auto session = std::make_shared<WatchSession>(loop, nullptr, std::move(sink), 0);
  session->End(std::move(error));
  return Handle(std::move(session));
}

void WatchSession::Open(Transport& transport, HttpRequest request,
                        std::shared_ptr<const Token> token) {
  if (ended_) return;
  token_ = std::move(token);
  target_ = request.target;
  stream_ = transport.Open(std::move(request), shared_from_this());
}

std::shared_ptr<StreamSink> WatchSession::TakeSink() {
  ended_ = true;
  if (Owner* owner = std::exchange(owner_, nullptr)) owner->OnWatchEnded(this);
  return std::move(sink_);
}

void WatchSession::End(absl::Status reason) {
  if (ended_) return;
  std::shared_ptr<StreamSink> sink = TakeSink();
  stream_ = nullptr;
  loop_.Post([sink = std::move(sink), reason = std::move(reason)] { sink->OnClosed(reason); });
}

void WatchSession::Release() {
  if (ended_) return;
  std::shared_ptr<StreamSink> sink = TakeSink();
  stream_ = nullptr;
  loop_.Post([weak = std::weak_ptr(sink)] {
    if (auto alive = weak.lock()) alive->OnClosed(absl::CancelledError("the watch was closed"));
  });
}

StreamSink::Flow WatchSession::OnOpen(const HttpResponse& head) {
  if (ended_) return Flow::kCancel;
  // This object lives until the call is over, whatever the callee does.
  const auto self = shared_from_this();
  if (owner_ != nullptr) owner_->OnWatchResponse(head);
  if (ended_) return Flow::kCancel;
  if (!IsSuccess(head)) {
    refusal_ = head;
    refusal_->body.clear();
    return Flow::kContinue;
  }
  return std::shared_ptr(sink_)->OnOpen(head);
}

StreamSink::Flow WatchSession::OnData(std::string_view bytes) {
  if (ended_) return Flow::kCancel;
  const auto self = shared_from_this();
  if (!refusal_.has_value()) return std::shared_ptr(sink_)->OnData(bytes);
  refusal_->body += bytes.substr(0, max_error_body_ - refusal_->body.size());
  return refusal_->body.size() < max_error_body_ ? Flow::kContinue : Flow::kCancel;
}

void WatchSession::OnClosed(absl::Status status) {
  if (ended_) return;
  const auto self = shared_from_this();
  if (refusal_.has_value()) {
    status = ErrorOf(*refusal_);
    if (owner_ != nullptr) owner_->OnWatchRejected(*this, status);
    if (ended_) return;
  }
  TakeSink()->OnClosed(std::move(status));
}

}  // namespace mandate
