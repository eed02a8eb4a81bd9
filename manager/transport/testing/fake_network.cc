#include "manager/transport/testing/fake_network.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "manager/core/weak_self.h"

namespace mandate {

// Behaves like CurlCodec towards the connection above it. Each step is a timer with a weak pointer
// to this.
class FakeNetwork::FakeCodec : public ClientCodec {
 public:
  FakeCodec(FakeNetwork& network, Observer& observer) : network_(network), observer_(observer) {
    network_.codecs_.push_back(this);
  }
  ~FakeCodec() override {
    Check(!inside_, "destroyed inside a callback");
    std::erase(network_.codecs_, this);
  }

  absl::Status Add(std::shared_ptr<ActiveRequest> active) override {
    Check(!inside_, "a request was added inside a callback");
    Check(requests_.size() < network_.options_.client_streams, "too many on a connection");
    Note(active->request());
    const uint64_t id = next_id_++;
    requests_.emplace(id, Request{.active = std::move(active)});
    if (state_ == State::kNew) {
      Connect(id);
    } else {
      Check(state_ != State::kConnecting, "a second request before the connection is up");
      Later(absl::ZeroDuration(), [this, id] { TrySend(id); });
    }
    return absl::OkStatus();
  }

  bool Remove(const ActiveRequest& active) override {
    Check(!inside_, "a request was removed inside a callback");
    const auto at = std::find_if(requests_.begin(), requests_.end(), [&](const auto& entry) {
      return entry.second.active.get() == &active;
    });
    if (at == requests_.end()) return false;
    if (CountSent() >= Limit()) full_until_ = network_.loop_.clock().TimeNow();
    const bool sent = at->second.sent;
    requests_.erase(at);
    unflushed_ = unflushed_ || sent;
    // HTTP/1.1 cannot end a request in another way.
    if (sent && !multiplexed_) state_ = State::kGone;
    return sent;
  }

  bool Flush() override {
    if (!std::exchange(unflushed_, false)) return true;
    return CountSent() > 0;
  }

  bool closed() const override { return state_ == State::kGone && connected_; }

  size_t HangingSince(absl::Time time) const {
    const bool probable = multiplexed_ && !going_away_ && CountSent() < Limit();
    return probable && stalled_ && std::max(stalled_since_, full_until_) < time ? CountSent() : 0;
  }

 private:
  enum class State { kNew, kConnecting, kUp, kGone };
  struct Request {
    std::shared_ptr<ActiveRequest> active;
    bool sent = false;
    bool served = false;
    bool received = false;
  };

  void Check(bool ok, const char* what) {
    if (!ok) network_.violations_.emplace_back(what);
  }

  void Note(const HttpRequest& request) {
    if (request.target == "/livez") {
      ++network_.counts_.probes;
      return;
    }
    if (network_.admitted_once_.insert(request.target).second) {
      const char* const of = absl::StartsWith(request.target, "/watch") ? " watches" : " calls";
      network_.admitted_[absl::StrCat(request.endpoint->server, of, " of ", request.user_agent)]
          .push_back(request.target);
    }
  }

  void Later(absl::Duration delay, std::function<void()> step) {
    // It runs in a task of its own, because a codec must not act inside a call of another.
    auto timer = std::make_shared<std::unique_ptr<Loop::Timer>>();
    *timer = network_.loop_.RunAt(network_.loop_.clock().TimeNow() + delay,
                                  weak_.Bind([this, step = std::move(step), id = next_timer_] {
                                    // The task keeps it until the step is over.
                                    const auto node = timers_.extract(id);
                                    step();
                                  }));
    timers_.emplace(next_timer_++, std::move(timer));
  }
  void Soon(std::function<void()> step) { Later(network_.Delay(), std::move(step)); }

  size_t Limit() const { return multiplexed_ ? network_.options_.server_streams : 1; }

  size_t CountSent() const {
    return static_cast<size_t>(std::count_if(requests_.begin(), requests_.end(),
                                             [](const auto& entry) { return entry.second.sent; }));
  }

  void Connect(uint64_t id) {
    state_ = State::kConnecting;
    ++network_.counts_.connections;
    const Faults& faults = network_.options_.faults;
    if (network_.Happens(faults.connect_refused)) {
      return Soon([this, id] { FailToConnect(id, "refused", /*lost=*/true); });
    }
    if (network_.Happens(faults.untrusted)) {
      return Soon([this, id] { FailToConnect(id, "not trusted", /*lost=*/false); });
    }
    if (network_.Happens(faults.connect_silent)) {
      return Later(network_.options_.connect_timeout,
                   [this, id] { FailToConnect(id, "timed out", /*lost=*/false); });
    }
    multiplexed_ = !network_.Happens(faults.http1);
    Soon([this, id] {
      state_ = requests_.empty() ? State::kGone : State::kUp;
      TrySend(id);
    });
  }

  void FailToConnect(uint64_t id, const char* why, bool lost) {
    state_ = State::kGone;
    End(id, {.status = absl::UnavailableError(why), .lost = lost});
  }

  void TrySend(uint64_t id) {
    const auto at = requests_.find(id);
    if (at == requests_.end()) return;
    if (state_ != State::kUp || going_away_ || CountSent() >= Limit()) {
      ++network_.counts_.refusals;
      return End(id, {.status = absl::UnavailableError("no room"), .refused = true, .lost = true});
    }
    if (at->second.active->ended()) {
      return End(id, {.status = absl::CancelledError("given up"), .lost = true});
    }
    connected_ = true;
    at->second.sent = true;
    network_.sent_.insert(at->second.active->request().target);
    ++network_.counts_.requests;
    Inside([&] { observer_.OnSent(*at->second.active); });
    Soon([this, id] { Serve(id); });
  }

  // The server handles a request.
  void Serve(uint64_t id) {
    const auto at = requests_.find(id);
    if (at == requests_.end() || stalled_ || state_ != State::kUp) return;
    const Faults& faults = network_.options_.faults;
    Counts& counts = network_.counts_;
    const std::string target = at->second.active->request().target;
    if (target != "/livez") {
      if (network_.Happens(faults.refused_stream)) {
        ++counts.resets;
        return End(id, Unprocessed(id));
      }
      if (network_.Happens(faults.never)) return;
      ++network_.served_[target];
      at->second.served = true;
      if (network_.Happens(faults.reset)) {
        ++counts.resets;
        return End(id, {.status = absl::UnavailableError("reset"), .sent = true, .lost = true});
      }
      if (network_.Happens(faults.go_away)) GoAway();
      if (network_.Happens(faults.close)) return Close();
      if (network_.Happens(faults.stall)) {
        ++counts.stalls;
        stalled_ = true;
        stalled_since_ = network_.loop_.clock().TimeNow();
        return;
      }
    }
    const bool half = target == "/livez" && network_.Happens(faults.half_probe);
    const bool cut = network_.Happens(faults.cut);
    Soon([this, id, cut, half] {
      if (!Head(id) || half) return;
      Soon([this, id, cut] {
        if (cut && requests_.contains(id)) {
          ++network_.counts_.resets;
          End(id, {.status = absl::UnavailableError("cut"),
                   .sent = true,
                   .received = true,
                   .lost = true});
          return;
        }
        Body(id);
      });
    });
  }

  bool Head(uint64_t id) {
    const auto at = requests_.find(id);
    if (at == requests_.end() || stalled_) return false;
    HttpResponse head;
    head.code = 200;
    at->second.received = true;
    bool wanted = false;
    Inside([&] {
      observer_.OnReceived();
      observer_.OnHeaders(multiplexed_);
      wanted = at->second.active->OnHeaders(head);
    });
    if (wanted) {
      observer_.OnCompleted({});
    } else {
      Fail(id);
    }
    return wanted;
  }

  void Body(uint64_t id) {
    const auto at = requests_.find(id);
    if (at == requests_.end() || stalled_) return;
    const std::string& target = at->second.active->request().target;
    const bool watch = absl::StartsWith(target, "/watch");
    bool wanted = false;
    Inside([&] {
      observer_.OnReceived();
      wanted = at->second.active->OnBody(watch ? "x" : target);
      // More requests may have come already.
      if (wanted && watch && network_.Happens(50)) wanted = at->second.active->OnBody("x");
    });
    if (!wanted) return Fail(id);
    if (!watch || network_.Happens(network_.options_.watch_ends)) {
      return End(id, {.status = absl::OkStatus(), .sent = true, .received = true});
    }
    Later(network_.Delay() * 10, [this, id] { Body(id); });
  }

  void GoAway() {
    ++network_.counts_.went_away;
    going_away_ = true;
    // GOAWAY names the last request that was taken. The requests before it are served too.
    uint64_t last = 0;
    for (const auto& [id, request] : requests_) {
      if (request.served) last = id;
    }
    std::vector<Completion> over;
    for (auto it = requests_.upper_bound(last); it != requests_.end();) {
      if (!it->second.sent) {
        ++it;
        continue;
      }
      over.push_back({it->second.active, Unprocessed(it->first)});
      it = requests_.erase(it);
    }
    observer_.OnCompleted(std::move(over));
  }

  void Close() {
    ++network_.counts_.closed;
    state_ = State::kGone;
    std::vector<Completion> over;
    for (auto it = requests_.begin(); it != requests_.end();) {
      const Request& request = it->second;
      if (!request.sent) {
        ++it;
        continue;
      }
      over.push_back({request.active,
                      {.status = absl::UnavailableError("closed"),
                       .sent = true,
                       .received = request.received,
                       .lost = true}});
      it = requests_.erase(it);
    }
    observer_.OnCompleted(std::move(over));
  }

  // Requests after the last one that the server took were not served, except those with a response.
  TransferResult Unprocessed(uint64_t id) {
    const Request& request = requests_.at(id);
    // If `refused`, the real libcurl would send the request again by itself, and the connection
    // takes no more requests.
    const bool refused = network_.Happens(50);
    going_away_ = going_away_ || refused;
    return {.status = absl::UnavailableError("not served"),
            .sent = true,
            .received = request.received,
            .refused = refused,
            .unprocessed = !request.received,
            .lost = true};
  }

  void Fail(uint64_t id) {
    const auto at = requests_.find(id);
    if (at == requests_.end()) return;
    absl::Status reason = at->second.active->reason();
    if (reason.ok()) reason = absl::CancelledError("given up");
    unflushed_ = true;
    if (!multiplexed_) state_ = State::kGone;
    End(id, {.status = std::move(reason), .sent = true, .received = true});
  }

  void End(uint64_t id, TransferResult result) {
    auto node = requests_.extract(id);
    if (node.empty()) return;
    observer_.OnCompleted({{std::move(node.mapped().active), std::move(result)}});
  }

  void Inside(const std::function<void()>& work) {
    inside_ = true;
    work();
    inside_ = false;
  }

  FakeNetwork& network_;
  Observer& observer_;
  State state_ = State::kNew;
  std::map<uint64_t, Request> requests_;
  std::map<uint64_t, std::shared_ptr<std::unique_ptr<Loop::Timer>>> timers_;
  uint64_t next_id_ = 0;
  uint64_t next_timer_ = 0;
  bool multiplexed_ = true;
  bool connected_ = false;
  bool going_away_ = false;
  bool stalled_ = false;
  absl::Time stalled_since_;
  absl::Time full_until_ = absl::InfinitePast();
  bool unflushed_ = false;
  bool inside_ = false;
  WeakSelf weak_;
};

FakeNetwork::FakeNetwork(Loop& loop, const Options& options)
    : loop_(loop), options_(options), random_(options.seed) {}

FakeNetwork::~FakeNetwork() = default;

ClientCodecFactory FakeNetwork::NewCodec() {
  return [this](ClientCodec::Observer& observer) -> absl::StatusOr<std::unique_ptr<ClientCodec>> {
    return std::make_unique<FakeCodec>(*this, observer);
  };
}

int FakeNetwork::served(const std::string& target) const {
  const auto at = served_.find(target);
  return at == served_.end() ? 0 : at->second;
}

size_t FakeNetwork::HangingSince(absl::Time time) const {
  size_t count = 0;
  for (const FakeCodec* codec : codecs_) count += codec->HangingSince(time);
  return count;
}

bool FakeNetwork::Happens(int percent) {
  return std::uniform_int_distribution<int>(0, 99)(random_) < percent;
}

absl::Duration FakeNetwork::Delay() {
  return options_.slowest * std::uniform_real_distribution<double>(0, 1)(random_);
}

}  // namespace mandate
