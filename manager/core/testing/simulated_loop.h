// A Loop in virtual time that the test's own thread drives. Whole systems run in it, and each run
// can be repeated.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/executor.h"

namespace mandate {

// Virtual time. Single-threaded.
class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(absl::Time start = absl::FromUnixSeconds(1'700'000'000)) : now_(start) {}
  absl::Time TimeNow() const override { return now_; }
  absl::Time WallTimeNow() const override { return now_ + wall_skew_; }

  void AdvanceTo(absl::Time time);
  // The difference between the wall clock and TimeNow(): simulates a machine whose clock is wrong
  // or jumps.
  void SetWallSkew(absl::Duration skew) { wall_skew_ = skew; }

 private:
  absl::Time now_;
  absl::Duration wall_skew_ = absl::ZeroDuration();
};

// A Loop in virtual time. Its tasks run in the order in which they were posted, as in a real Loop.
// Single-threaded.
class SimulatedLoop : public Loop {
 public:
  SimulatedLoop();
  ~SimulatedLoop() override;

  void Post(Task task) override;
  std::unique_ptr<Timer> RunAt(absl::Time when, Task task) override;
  // As RunAt, but the timer cannot be cancelled.
  void PostAt(absl::Time when, Task task);
  bool IsCurrent() const override { return true; }
  // The test's own code and the tasks of a SimulatedPool may wait. As on a real loop, a task of the
  // loop must not.
  bool CanAwait() const override { return !in_task_; }
  const Clock& clock() const override { return clock_; }
  SimulatedClock& simulated_clock() { return clock_; }

  // Runs other tasks, and advances time to the next timer, until the latch is set. If no task or
  // timer is left that could set it, prints that this is a deadlock and aborts.
  void Await(const Latch& latch) override;

  // Runs the tasks that are ready now. Time does not advance.
  void RunReady();
  // Runs everything that is due in the next `duration`, timer by timer. Afterwards exactly this
  // time has passed.
  void RunFor(absl::Duration duration);
  // Runs until `condition` holds; false if `limit` of virtual time passed first.
  bool RunUntil(const std::function<bool()>& condition, absl::Duration limit = absl::Hours(1));

  // The time of the next timer; infinite future if none is set.
  absl::Time NextTimer() const;
  size_t ready_tasks() const { return ready_.size(); }

 private:
  friend class SimulatedPool;
  class SimulatedTimer;
  using TimerKey = std::pair<absl::Time, uint64_t>;

  void Run(Task task, bool in_task);
  bool RunOne();
  // Moves time to the next timer, no later than `limit`; false when there is none by then.
  bool AdvanceToNextTimer(absl::Time limit);

  SimulatedClock clock_;
  std::deque<Task> ready_;
  // Shared with timers, which may outlive the loop.
  std::shared_ptr<std::map<TimerKey, Task>> timers_;
  uint64_t next_timer_ = 0;
  bool in_task_ = false;
};

// A pool of threads, simulated: each task starts after a random moment of virtual time, so that
// every seed is another schedule. Tasks may nest: one that Awaits lets others run. Single-threaded.
class SimulatedPool : public Executor {
 public:
  SimulatedPool(SimulatedLoop& loop, uint64_t seed) : loop_(loop), random_(seed) {}

  void Post(Task task) override;
  void Await(const Latch& latch) override { loop_.Await(latch); }

 private:
  SimulatedLoop& loop_;  // outlives this
  std::mt19937_64 random_;
};

}  // namespace mandate
