#include "manager/identity/fetch_limiter.h"

#include <algorithm>

namespace mandate {

struct FetchLimiterState {
  size_t max_in_flight;
  LimiterSeries series = {};
  size_t in_flight = 0;
  bool granting = false;
  std::deque<FetchLimiter::Granted> waiting = {};

  void Report() const {
    if (series.in_flight != nullptr) series.in_flight->Set(static_cast<double>(in_flight));
    if (series.waiting != nullptr) series.waiting->Set(static_cast<double>(waiting.size()));
  }
};

namespace {

// Returns at once when called inside itself: if a grant drops its slot, the loop that granted it
// serves the next, without recursion.
template <class MakeSlot>
void Grant(const std::shared_ptr<FetchLimiterState>& state, MakeSlot make_slot) {
  if (state->granting) return;
  state->granting = true;
  while (state->in_flight < state->max_in_flight && !state->waiting.empty()) {
    FetchLimiter::Granted granted = std::move(state->waiting.front());
    state->waiting.pop_front();
    ++state->in_flight;
    std::move(granted)(make_slot());
  }
  state->granting = false;
  state->Report();
}

}  // namespace

FetchLimiter::FetchLimiter(size_t max_in_flight, LimiterSeries series)
    : state_(std::make_shared<FetchLimiterState>(FetchLimiterState{
          .max_in_flight = std::max<size_t>(1, max_in_flight), .series = series})) {}

FetchLimiter::~FetchLimiter() {
  state_->waiting.clear();
  state_->Report();
  state_->series = {};
}

void FetchLimiter::Acquire(Granted granted) {
  const bool must_wait = state_->in_flight >= state_->max_in_flight;
  if (must_wait && state_->series.had_to_wait != nullptr) state_->series.had_to_wait->Increment();
  state_->waiting.push_back(std::move(granted));
  Grant(state_, [this] { return Slot(state_); });
}

void FetchLimiter::Slot::Release() {
  if (state_ == nullptr) return;
  std::shared_ptr<FetchLimiterState> state = std::move(state_);
  --state->in_flight;
  Grant(state, [&state] { return Slot(state); });
}

}  // namespace mandate
