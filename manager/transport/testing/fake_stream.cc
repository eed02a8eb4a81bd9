#include "manager/transport/testing/fake_stream.h"

#include "absl/strings/match.h"
#include "manager/core/strings.h"

namespace mandate {

RecordedRequest::RecordedRequest(absl::Time when, const HttpRequest& request, bool stream)
    : time(when),
      is_stream(stream),
      endpoint(request.endpoint),
      method(request.method),
      target(request.target),
      user_agent(request.user_agent),
      accept(request.accept),
      content_type(request.content_type),
      body(request.body),
      headers(request.headers) {
  const auto* bearer = std::get_if<BearerToken>(&request.credential);
  if (bearer != nullptr && bearer->token != nullptr) token.emplace(bearer->token->Reveal());
}

const std::string* RecordedRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, AsAbsl(name))) return &value;
  }
  return nullptr;
}

FakeStream::FakeStream(Loop& loop, HttpRequest request, std::shared_ptr<StreamSink> sink)
    : loop_(loop),
      request_(loop.clock().TimeNow(), request, /*stream=*/true),
      active_(std::make_shared<ActiveStream>(loop, std::move(request), std::move(sink))) {
  active_->NoteSent();
}

std::unique_ptr<Stream> FakeStream::NewHandle(absl::Duration time_to_headers) {
  active_->SetOnDrop([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Drop();
  });
  return active_->Bind(time_to_headers);
}

void FakeStream::Open(int code, std::string content_type) {
  HttpResponse head;
  head.code = code;
  head.content_type = std::move(content_type);
  Open(std::move(head));
}

void FakeStream::Open(HttpResponse head) {
  head.body.clear();
  Deliver([this, head = std::move(head)](ActiveStream&) { return opened_ || DeliverHead(head); });
}

void FakeStream::Send(std::string bytes) {
  Deliver([this, bytes = std::move(bytes)](ActiveStream& active) {
    // A server that sends a body has sent a head before.
    HttpResponse head;
    head.code = 200;
    head.content_type = "application/json";
    return (opened_ || DeliverHead(head)) && active.OnBody(bytes);
  });
}

bool FakeStream::DeliverHead(const HttpResponse& head) {
  opened_ = true;
  return active_->OnHeaders(head);
}

void FakeStream::Close(absl::Status status) {
  if (std::exchange(ending_, true)) return;
  loop_.Post([active = active_, status = std::move(status)] { active->End(status); });
}

void FakeStream::Deliver(absl::AnyInvocable<bool(ActiveStream&)> event) {
  if (ending_) return;
  loop_.Post([self = shared_from_this(), event = std::move(event)]() mutable {
    if (self->cancelled_ || self->active_->ended() || event(*self->active_)) return;
    self->Drop();
    self->loop_.Post([active = self->active_] { active->End(active->reason()); });
  });
}

void FakeStream::Drop() {
  if (std::exchange(ending_, true)) return;
  // The server sees a stream that had no head in time cancelled too.
  cancelled_ = !active_->timed_out();
  loop_.Post([self = shared_from_this()] {
    if (const auto callback = std::exchange(self->on_cancelled_, nullptr)) callback();
  });
}

}  // namespace mandate
