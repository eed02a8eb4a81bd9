#include "manager/transport/testing/fake_stream.h"

#include <utility>

namespace mandate {

class FakeStream::Handle : public Stream {
 public:
  explicit Handle(std::shared_ptr<FakeStream> stream) : stream_(std::move(stream)) {}
  ~Handle() override {
    stream_->Cancel();
    stream_->gate_.Release();
  }

 private:
  const std::shared_ptr<FakeStream> stream_;
};

FakeStream::FakeStream(Loop& loop, RecordedRequest request, std::shared_ptr<StreamSink> sink)
    : loop_(loop), request_(std::move(request)), gate_(std::move(sink)) {}

std::unique_ptr<Stream> FakeStream::NewHandle() {
  return std::make_unique<Handle>(shared_from_this());
}

void FakeStream::Open(int code, std::string content_type) {
  HttpResponse head;
  head.code = code;
  head.content_type = std::move(content_type);
  Open(std::move(head));
}

void FakeStream::Open(HttpResponse head) {
  if (ended()) return;
  no_head_.reset();
  head.body.clear();
  Deliver([head = std::move(head)](SinkGate& gate) { return gate.Open(head); });
}

void FakeStream::Send(std::string bytes) {
  if (ended()) return;
  Deliver([bytes = std::move(bytes)](SinkGate& gate) {
    // A server that sends a body has sent a head before.
    if (!gate.opened()) {
      HttpResponse head;
      head.code = 200;
      head.content_type = "application/json";
      if (!gate.Open(head)) return false;
    }
    return gate.Data(bytes);
  });
}

void FakeStream::Close(absl::Status status) {
  if (ended()) return;
  ending_ = true;
  no_head_.reset();
  loop_.Post(
      [self = shared_from_this(), status = std::move(status)] { self->gate_.Close(status); });
}

void FakeStream::CloseUnlessOpenedBy(absl::Time deadline) {
  no_head_ = loop_.RunAt(deadline, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr || self->gate_.opened()) return;
    // The client cancels the stream, and the server sees it.
    if (auto callback = std::exchange(self->on_cancelled_, nullptr)) callback();
    self->Close(absl::UnavailableError("the server sent no response head in time"));
  });
}

void FakeStream::Deliver(absl::AnyInvocable<bool(SinkGate&)> event) {
  loop_.Post([self = shared_from_this(), event = std::move(event)]() mutable {
    if (!self->gate_.live()) return;
    if (!event(self->gate_)) self->Cancel();
  });
}

void FakeStream::Cancel() {
  if (ended()) return;
  cancelled_ = true;
  no_head_.reset();
  loop_.Post([self = shared_from_this()] {
    if (auto callback = std::exchange(self->on_cancelled_, nullptr)) callback();
    self->gate_.Close(absl::CancelledError("the stream was cancelled"));
  });
}

}  // namespace mandate
