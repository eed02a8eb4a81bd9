#include "manager/transport/testing/fake_transport.h"

#include <cassert>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "manager/core/strings.h"
#include "manager/transport/request_check.h"

namespace mandate {

FakeReply FakeReply::Json(int code, std::string body) {
  HttpResponse response;
  response.code = code;
  response.content_type = "application/json";
  response.body = std::move(body);
  return {.result = std::move(response)};
}

FakeReply FakeReply::After(absl::Duration by) const {
  FakeReply later = *this;
  later.delay += by;
  return later;
}

FakeTransport::~FakeTransport() {
  const absl::Status status = absl::CancelledError("the transport was shut down");
  for (auto& [id, call] : calls_) {
    loop_.Post([active = call.active, status] { active->End(status); });
  }
  for (const auto& stream : streams_) stream->Close(status);
}

void FakeTransport::Call(const CallContext& context, HttpRequest request, Done done) {
  assert(loop_.IsCurrent());
  const absl::Status status = CheckRequest(request);
  const auto active =
      std::make_shared<ActiveCall>(loop_, options_, stats_, std::move(request), std::move(done));
  if (!status.ok()) return loop_.Post([active, status] { active->End(status); });
  requests_.emplace_back(loop_.clock().TimeNow(), active->request(), /*stream=*/false);
  const uint64_t id = next_call_++;
  calls_.emplace(id, PendingCall{.active = active});
  active->NoteSent();
  active->SetOnDrop(weak_.Bind([this, id] { calls_.erase(id); }));
  active->Bind(context);
  // The server does not see a call after its deadline.
  if (context.deadline <= loop_.clock().TimeNow()) return;
  loop_.Post(weak_.Bind([this, id, active, failure = NextFailure()]() mutable {
    Serve(id, active->request(), std::move(failure));
  }));
}

void FakeTransport::Serve(uint64_t id, const HttpRequest& request, std::optional<Failure> failure) {
  // It was cancelled before it went out.
  if (!calls_.contains(id)) return;
  if (late_handler_ && !failure.has_value() && !IsExpected(request)) {
    late_handler_(request,
                  weak_.Bind([this, id](FakeReply reply) { Answer(id, std::move(reply)); }));
    return;
  }
  FakeReply reply;
  if (!failure.has_value() || failure->reply_lost) reply = ReplyTo(request);
  if (failure.has_value()) reply = FakeReply::Error(std::move(failure->status));
  Answer(id, std::move(reply));
}

bool FakeTransport::IsExpected(const HttpRequest& request) const {
  for (const Expectation& one : expectations_) {
    if (one.method == request.method && absl::StartsWith(request.target, one.target_prefix)) {
      return true;
    }
  }
  return false;
}

void FakeTransport::Answer(uint64_t id, FakeReply reply) {
  const auto call = calls_.find(id);  // again: the handler is code of the test
  if (reply.never || call == calls_.end()) return;
  call->second.reply = loop_.RunAt(
      loop_.clock().TimeNow() + reply.delay,
      [this, id, result = std::move(reply.result)]() mutable { Finish(id, std::move(result)); });
}

void FakeTransport::Finish(uint64_t id, absl::StatusOr<HttpResponse> result) {
  const auto node = calls_.extract(id);
  if (node.empty()) return;
  ActiveCall& active = *node.mapped().active;
  if (!result.ok()) return active.End(std::move(result).status());
  const std::string body = std::exchange(result->body, "");
  bool wanted = active.OnHeaders(*result);
  // In pieces of an odd size.
  for (std::string_view rest = body; wanted && !rest.empty();) {
    const std::string_view piece = rest.substr(0, 61);
    wanted = active.OnBody(piece);
    rest.remove_prefix(piece.size());
  }
  active.End(wanted ? absl::OkStatus() : active.reason());
}

FakeReply FakeTransport::ReplyTo(const HttpRequest& request) {
  for (auto it = expectations_.begin(); it != expectations_.end(); ++it) {
    if (it->method == request.method && absl::StartsWith(request.target, it->target_prefix)) {
      FakeReply reply = std::move(it->reply);
      expectations_.erase(it);
      return reply;
    }
  }
  if (handler_) return handler_(request);
  return FakeReply::Error(absl::InternalError(
      absl::StrCat("FakeTransport: the test scripted no answer for ", request.method, " ",
                   request.target, ": call Expect() or Handle()")));
}

std::unique_ptr<Stream> FakeTransport::Open(HttpRequest request, std::shared_ptr<StreamSink> sink) {
  assert(loop_.IsCurrent());
  absl::Status status = CheckRequest(request);
  const auto stream = std::make_shared<FakeStream>(loop_, std::move(request), std::move(sink));
  std::unique_ptr<Stream> handle = stream->NewHandle(options_.time_to_headers);
  if (!status.ok()) {
    stream->Close(std::move(status));
    return handle;
  }
  requests_.push_back(stream->request());
  streams_.push_back(stream);
  std::optional<Failure> failure = NextFailure();
  if (failure.has_value() && !failure->reply_lost) {
    stream->Close(std::move(failure->status));
    return handle;
  }
  loop_.Post(weak_.Bind([this, stream, failure = std::move(failure)]() mutable {
    if (stream->ended()) return;
    if (on_stream_ && !failure.has_value()) on_stream_(*stream);
    if (failure.has_value()) stream->Close(std::move(failure->status));
  }));
  return handle;
}

void FakeTransport::Expect(std::string method, std::string target_prefix, FakeReply reply) {
  expectations_.push_back({std::move(method), std::move(target_prefix), std::move(reply)});
}

void FakeTransport::FailAfter(size_t requests, Failure failure) {
  until_failure_ = requests;
  failure_ = std::move(failure);
}

std::optional<FakeTransport::Failure> FakeTransport::NextFailure() {
  if (failure_.times == 0) return std::nullopt;
  if (until_failure_ > 0) {
    --until_failure_;
    return std::nullopt;
  }
  if (failure_.times != std::numeric_limits<size_t>::max()) --failure_.times;
  return failure_;
}

size_t FakeTransport::CountRequests(std::string_view method, std::string_view target_prefix) const {
  size_t count = 0;
  for (const RecordedRequest& request : requests_) {
    count += request.method == method && absl::StartsWith(request.target, AsAbsl(target_prefix));
  }
  return count;
}

size_t FakeTransport::open_stream_count() const {
  size_t count = 0;
  for (const auto& stream : streams_) count += !stream->ended();
  return count;
}

FakeStream* FakeTransport::FindStream(std::string_view target_prefix) {
  for (auto it = streams_.rbegin(); it != streams_.rend(); ++it) {
    if (!(*it)->ended() && absl::StartsWith((*it)->request().target, AsAbsl(target_prefix))) {
      return it->get();
    }
  }
  return nullptr;
}

}  // namespace mandate
