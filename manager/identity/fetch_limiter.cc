#include "manager/identity/fetch_limiter.h"

#include <algorithm>

namespace mandate {

struct FetchLimiter::State {
  size_t max_in_flight;
  LimiterMetrics series = {};
  size_t in_flight = 0;
  bool granting = false;
  std::deque<Granted> waiting = {};

  void Report() const {
    if (series.in_flight != nullptr) series.in_flight->Set(static_cast<double>(in_flight));
    if (series.waiting != nullptr) series.waiting->Set(static_cast<double>(waiting.size()));
  }
};

// Returns at once when called inside itself: if a grant drops its slot, the loop that granted it
// serves the next, without recursion.
void FetchLimiter::Grant(const std::shared_ptr<State>& state) {
  if (state->granting) return;
  state->granting = true;
  while (state->in_flight < state->max_in_flight && !state->waiting.empty()) {
    Granted granted = std::move(state->waiting.front());
    state->waiting.pop_front();
    ++state->in_flight;
    std::move(granted)(Slot(state.get(), [state](const void*) {
      --state->in_flight;
      Grant(state);
    }));
  }
  state->granting = false;
  state->Report();
}

FetchLimiter::FetchLimiter(size_t max_in_flight, LimiterMetrics series)
    : state_(std::make_shared<State>(
          State{.max_in_flight = std::max<size_t>(1, max_in_flight), .series = series})) {}

FetchLimiter::~FetchLimiter() {
  state_->waiting.clear();
  state_->Report();
  state_->series = {};
}

void FetchLimiter::Acquire(Granted granted) {
  const bool must_wait = state_->in_flight >= state_->max_in_flight;
  if (must_wait && state_->series.had_to_wait != nullptr) state_->series.had_to_wait->Increment();
  state_->waiting.push_back(std::move(granted));
  Grant(state_);
}

}  // namespace mandate
