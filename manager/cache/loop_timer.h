// A timer for state machines: it can be set, set again, and cancelled.
#pragma once

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/executor.h"

namespace mandate {

// After Cancel() its task does not run, even if it was due at that moment. The task may set, cancel
// or destroy the timer. Loop thread only.
class LoopTimer {
 public:
  explicit LoopTimer(Loop& loop) : loop_(loop) {}  // outlives this

  // Replaces the task that was set before.
  template <class Task>
  void Set(absl::Time when, Task task) {
    auto set = std::make_shared<bool>(true);
    set_ = set;
    // The task has only a weak_ptr to `set`: when set_ is reset, the timer is cancelled.
    timer_ = loop_.RunAt(when, [this, weak = std::weak_ptr<bool>(set), task = std::move(task)] {
      if (weak.expired()) return;
      set_.reset();
      const auto done = std::move(timer_);
      task();
    });
  }
  void SetAfter(absl::Duration delay, auto task) {
    Set(loop_.clock().TimeNow() + delay, std::move(task));
  }
  void Cancel() {
    set_.reset();
    timer_.reset();
  }
  bool IsSet() const { return set_ != nullptr; }

 private:
  Loop& loop_;
  std::shared_ptr<bool> set_;
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace mandate
