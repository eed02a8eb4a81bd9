#include "manager/transport/stream_limiter.h"

#include <algorithm>
#include <cassert>

namespace mandate {

size_t StreamLimiter::free_capacity() const {
  switch (state_) {
    case State::kConnecting:
      return active_ == 0 ? 1 : 0;
    case State::kOpen:
      return cap_ - std::min(cap_, active_);
    case State::kDraining:
    case State::kDead:
      return 0;
  }
  return 0;
}

void StreamLimiter::Start() {
  assert(free_capacity() > 0);
  ++active_;
}

void StreamLimiter::Sent() {
  ++on_connection_;
  most_on_connection_ = std::max(most_on_connection_, on_connection_);
}

void StreamLimiter::End(bool sent) {
  assert(active_ > 0);
  --active_;
  if (sent) {
    assert(on_connection_ > 0);
    --on_connection_;
  }
}

void StreamLimiter::HeadCame(bool multiplexed) {
  if (!multiplexed) {
    multiplexed_ = false;
    cap_ = 1;
  }
  if (state_ == State::kConnecting) state_ = State::kOpen;
}

void StreamLimiter::Refused() {
  if (state_ != State::kOpen) return;
  // More streams than that ran here before, so the connection takes no more requests.
  if (on_connection_ == 0 || on_connection_ < most_on_connection_) return Drain();
  // This is either the server's limit, of which one is kept free for the probe, or GOAWAY. The next
  // attempt, after some streams have ended, will show which.
  cap_ = std::max<size_t>(on_connection_, 2) - 1;
}

void StreamLimiter::Drain() {
  if (state_ != State::kDead) state_ = State::kDraining;
}

}  // namespace mandate
