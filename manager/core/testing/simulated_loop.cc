#include "manager/core/testing/simulated_loop.h"

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace mandate {

void SimulatedClock::AdvanceTo(absl::Time time) {
  if (time > now_) now_ = time;
}

class SimulatedLoop::SimulatedTimer : public Loop::Timer {
 public:
  SimulatedTimer(std::weak_ptr<std::map<TimerKey, Task>> timers, TimerKey key)
      : timers_(std::move(timers)), key_(key) {}
  ~SimulatedTimer() override {
    // The task is destroyed after the map is consistent again, because it may own this timer's
    // owner.
    if (auto timers = timers_.lock()) {
      auto node = timers->extract(key_);
    }
  }

 private:
  std::weak_ptr<std::map<TimerKey, Task>> timers_;
  TimerKey key_;
};

SimulatedLoop::SimulatedLoop() : timers_(std::make_shared<std::map<TimerKey, Task>>()) {}

SimulatedLoop::~SimulatedLoop() = default;

void SimulatedPool::Post(Task task) {
  const auto delay = std::uniform_int_distribution<int>(0, 1000)(random_);
  loop_.PostAt(loop_.clock().TimeNow() + absl::Microseconds(delay),
               [&loop = loop_, task = std::move(task)]() mutable {
                 loop.Run(std::move(task), /*in_task=*/false);
               });
}

void SimulatedLoop::Post(Task task) { ready_.push_back(std::move(task)); }

std::unique_ptr<Loop::Timer> SimulatedLoop::RunAt(absl::Time when, Task task) {
  PostAt(when, std::move(task));
  const TimerKey key{std::max(when, clock_.TimeNow()), next_timer_ - 1};
  return std::make_unique<SimulatedTimer>(timers_, key);
}

void SimulatedLoop::PostAt(absl::Time when, Task task) {
  timers_->emplace(TimerKey{std::max(when, clock_.TimeNow()), next_timer_++}, std::move(task));
}

absl::Time SimulatedLoop::NextTimer() const {
  return timers_->empty() ? absl::InfiniteFuture() : timers_->begin()->first.first;
}

void SimulatedLoop::Run(Task task, bool in_task) {
  const bool before = std::exchange(in_task_, in_task);
  std::move(task)();
  in_task_ = before;
}

bool SimulatedLoop::RunOne() {
  if (!ready_.empty()) {
    Task task = std::move(ready_.front());
    ready_.pop_front();
    Run(std::move(task), /*in_task=*/true);
    return true;
  }
  // Timers run one at a time, because the task of one may cancel another one that is due at the
  // same time.
  if (NextTimer() > clock_.TimeNow()) return false;
  auto node = timers_->extract(timers_->begin());
  Run(std::move(node.mapped()), /*in_task=*/true);
  return true;
}

bool SimulatedLoop::AdvanceToNextTimer(absl::Time limit) {
  const absl::Time next = NextTimer();
  if (next > limit || next == absl::InfiniteFuture()) return false;
  clock_.AdvanceTo(next);
  return true;
}

void SimulatedLoop::RunReady() {
  while (RunOne()) {
  }
}

void SimulatedLoop::RunFor(absl::Duration duration) {
  const absl::Time end = clock_.TimeNow() + duration;
  do {
    RunReady();
  } while (AdvanceToNextTimer(end));
  clock_.AdvanceTo(end);
}

bool SimulatedLoop::RunUntil(const std::function<bool()>& condition, absl::Duration limit) {
  const absl::Time end = clock_.TimeNow() + limit;
  while (!condition()) {
    if (!RunOne() && !AdvanceToNextTimer(end)) return false;
  }
  return true;
}

void SimulatedLoop::Await(const Latch& latch) {
  while (!latch.IsSet()) {
    if (!RunOne() && !AdvanceToNextTimer(absl::InfiniteFuture())) {
      std::fputs("SimulatedLoop: deadlock: nothing is left that could set the latch\n", stderr);
      std::abort();
    }
  }
}

}  // namespace mandate
