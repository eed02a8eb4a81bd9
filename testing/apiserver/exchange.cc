#include "testing/apiserver/exchange.h"

#include "testing/apiserver/status_response.h"

namespace mandate::apiserver {

void Exchange::Answer(Response& response) {
  answered_ = true;
  for (auto& observer : on_answer_) observer(response);
  on_answer_.clear();
}

void Exchange::Respond(Response response) {
  if (request_.method == "HEAD") response.body.clear();
  if (closed_ || answered_) return;
  Answer(response);
  // An observer may have closed the exchange.
  if (closed_) return;
  WriteWhole(response);
  Close();
}

void Exchange::Fail(const absl::Status& status) { Respond(StatusResponse(status, request_)); }

void Exchange::Open(Response head) {
  if (closed_ || answered_) return;
  Answer(head);
  if (!closed_) WriteHead(head);
}

void Exchange::Send(std::string frame) {
  if (closed_ || ended_) return;
  if (relay_) {
    relay_(std::move(frame));
  } else {
    Deliver(std::move(frame));
  }
}

void Exchange::End() {
  if (closed_ || ended_) return;
  ended_ = true;
  if (relay_) {
    relay_(std::nullopt);
  } else {
    Deliver(std::nullopt);
  }
}

void Exchange::Deliver(std::optional<std::string> frame) {
  if (closed_) return;
  if (frame) return Write(*std::move(frame));
  WriteEnd();
  Close();
}

void Exchange::Abort() {
  if (closed_) return;
  WriteAbort();
  Close();
}

void Exchange::OnAnswer(std::function<void(Response&)> observer) {
  on_answer_.push_back(std::move(observer));
}

void Exchange::OnClosed(std::function<void()> observer) {
  on_closed_.push_back(std::move(observer));
}

void Exchange::MarkGone() {
  if (!closed_) Close();
}

void Exchange::Close() {
  closed_ = true;
  // An observer may own this exchange indirectly, so release the observers.
  const auto self = weak_from_this().lock();
  const auto observers = std::move(on_closed_);
  on_closed_.clear();
  for (const auto& observer : observers) observer();
}

}  // namespace mandate::apiserver
