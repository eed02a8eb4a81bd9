#include "manager/cache/watch_probe.h"

#include <string_view>
#include <utility>

#include "manager/cache/loop_timer.h"

namespace mandate {

// The transport may hold it for longer than the probe lives, with done_ null.
class WatchProbe::Session : public StreamSink, public std::enable_shared_from_this<Session> {
 public:
  Session(Loop& loop, Done done) : loop_(loop), done_(std::move(done)), timeout_(loop) {}

  void Start(RestClient& client, RestRequest request, absl::Duration timeout) {
    timeout_.SetAfter(timeout, [this] {
      Finish(absl::DeadlineExceededError("the server has not answered the watch in time"));
    });
    stream_ = client.Watch(std::move(request), shared_from_this());
  }

  void Detach() {
    done_ = nullptr;
    timeout_.Cancel();
    stream_.reset();
  }

  // A stream is not destroyed inside its own call: a later task reports the end.
  Flow OnOpen(const HttpResponse& /*head*/) override {
    FinishLater(absl::OkStatus());
    return Flow::kCancel;
  }
  Flow OnData(std::string_view /*bytes*/) override { return Flow::kCancel; }
  void OnClosed(absl::Status status) override {
    FinishLater(status.ok() ? absl::UnavailableError("the watch ended before it was answered")
                            : std::move(status));
  }

 private:
  void FinishLater(absl::Status status) {
    if (done_ == nullptr || std::exchange(answered_, true)) return;
    loop_.Post([self = shared_from_this(), status = std::move(status)] { self->Finish(status); });
  }

  void Finish(const absl::Status& status) {
    const Done done = std::exchange(done_, nullptr);
    if (done == nullptr) return;
    const auto self = shared_from_this();
    Detach();
    done(status);
  }

  Loop& loop_;
  Done done_;
  bool answered_ = false;
  LoopTimer timeout_;
  std::unique_ptr<Stream> stream_;
};

WatchProbe::WatchProbe(RestClient& client, RestRequest request, absl::Duration timeout, Done done)
    : session_(std::make_shared<Session>(client.loop(), std::move(done))) {
  session_->Start(client, std::move(request), timeout);
}

WatchProbe::~WatchProbe() { session_->Detach(); }

}  // namespace mandate
