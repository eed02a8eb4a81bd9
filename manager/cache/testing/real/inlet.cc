#include "manager/cache/testing/real/inlet.h"

#include <string>

namespace mandate::model {

void Inlet::Release() {
  held_ = false;
  while (!held_ && !waiting_.empty()) {
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    NoteNews();
    task();
  }
}

void Inlet::Close() {
  closed_ = true;
  std::deque<std::function<void()>>().swap(waiting_);
}

void Inlet::Pass(std::function<void()> task) {
  if (closed_) return;
  if (!open()) return waiting_.push_back(std::move(task));
  NoteNews();
  task();
}

// Keeps the sink's error, which ends the call, until the answer passes.
class HeldClient::Body : public BodySink, public std::enable_shared_from_this<Body> {
 public:
  Body(std::shared_ptr<Inlet> inlet, std::shared_ptr<BodySink> to)
      : inlet_(std::move(inlet)), to_(std::move(to)) {}

  void OnHeaders(const HttpResponse& head) override {
    inlet_->Pass([self = shared_from_this(), head] {
      self->status_ = absl::OkStatus();
      self->to_->OnHeaders(head);
    });
  }
  absl::Status OnBody(std::string_view bytes) override {
    inlet_->Pass([self = shared_from_this(), bytes = std::string(bytes)] {
      if (self->status_.ok()) self->status_ = self->to_->OnBody(bytes);
    });
    return status_;
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::shared_ptr<Inlet> inlet_;
  const std::shared_ptr<BodySink> to_;
  absl::Status status_;
};

class HeldClient::Sink : public StreamSink, public std::enable_shared_from_this<Sink> {
 public:
  Sink(Loop& loop, std::shared_ptr<Inlet> inlet, std::shared_ptr<StreamSink> to)
      : loop_(loop), inlet_(std::move(inlet)), to_(std::move(to)) {}

  void Keep(std::unique_ptr<Stream> stream) { stream_ = std::move(stream); }
  // The caller has destroyed its stream.
  void Drop() {
    stream_.reset();
    to_.reset();
  }

  Flow OnOpen(const HttpResponse& head) override {
    return Pass([head](StreamSink& to) { return to.OnOpen(head); });
  }
  Flow OnData(std::string_view bytes) override {
    return Pass([bytes = std::string(bytes)](StreamSink& to) { return to.OnData(bytes); });
  }
  void OnClosed(absl::Status status) override {
    inlet_->Pass([self = shared_from_this(), status = std::move(status)] { self->End(status); });
  }

 private:
  template <class Part>
  Flow Pass(Part part) {
    inlet_->Pass([self = shared_from_this(), part = std::move(part)] {
      if (self->to_ == nullptr || self->cancelled_) return;
      if (part(*std::shared_ptr(self->to_)) == Flow::kCancel) self->Cancel();
    });
    return to_ == nullptr || cancelled_ ? Flow::kCancel : Flow::kContinue;
  }
  // As the transport does after kCancel.
  void Cancel() {
    cancelled_ = true;
    loop_.Post([self = shared_from_this()] {
      self->stream_.reset();
      self->End(absl::CancelledError("cancelled"));
    });
  }
  void End(const absl::Status& status) {
    const auto to = std::move(to_);
    if (to != nullptr) to->OnClosed(status);
  }

  Loop& loop_;
  const std::shared_ptr<Inlet> inlet_;
  std::shared_ptr<StreamSink> to_;  // null: over
  std::unique_ptr<Stream> stream_;
  bool cancelled_ = false;
};

// The caller's stream.
class HeldClient::Handle : public Stream {
 public:
  explicit Handle(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {}
  ~Handle() override { sink_->Drop(); }

 private:
  const std::shared_ptr<Sink> sink_;
};

void HeldClient::Send(const CallContext& context, RestRequest request, Done done) {
  std::shared_ptr<Body> body;
  if (request.body_sink != nullptr) {
    body = std::make_shared<Body>(inlet_, std::move(request.body_sink));
    request.body_sink = body;
  }
  inner_.Send(
      context, std::move(request),
      [inlet = inlet_, body, stop = context.stop,
       done = std::make_shared<Done>(std::move(done))](absl::StatusOr<HttpResponse> response) {
        inlet->Pass([body, stop, done, response = std::move(response)]() mutable {
          // As if it had not arrived before the call was cancelled.
          if (stop.stop_requested()) response = absl::CancelledError("cancelled");
          if (body != nullptr && response.ok() && !body->status().ok()) {
            response = body->status();
          }
          std::move (*done)(std::move(response));
        });
      });
}

std::unique_ptr<Stream> HeldClient::Watch(RestRequest request, std::shared_ptr<StreamSink> sink) {
  const auto held = std::make_shared<Sink>(inner_.loop(), inlet_, std::move(sink));
  held->Keep(inner_.Watch(std::move(request), held));
  return std::make_unique<Handle>(held);
}

}  // namespace mandate::model
