// The interfaces that run work: a pool (Executor), and one serial loop with timers (Loop).
//
// State machines (transport, token sources, reflectors, elections) live on one Loop and need no
// locks; blocking code (reconcilers) runs on a pool and waits on Latches. In tests one
// SimulatedLoop is both, with virtual time: core/testing/simulated_loop.h.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/mutex.h"

namespace mandate {

// A flag that is set once. Thread-safe.
class Latch {
 public:
  void Set() {
    // Notified under the lock: the waiter may destroy the latch as soon as it sees it set.
    MutexLock lock(mutex_);
    set_ = true;
    changed_.NotifyAll();
  }
  bool IsSet() const {
    MutexLock lock(mutex_);
    return set_;
  }
  void Wait() const {
    MutexLock lock(mutex_);
    while (!set_) changed_.Wait(mutex_);
  }

 private:
  mutable Mutex mutex_;
  mutable CondVar changed_;
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
};

// Thread-safe.
class Executor {
 public:
  using Task = absl::AnyInvocable<void() &&>;
  virtual ~Executor() = default;

  // Runs `task` once, later, never inside this call. Tasks must not throw. A task posted after the
  // executor stopped is destroyed without running.
  virtual void Post(Task task) = 0;

  // Blocks the calling thread until `latch` is set. On the thread of a Loop this wait would never
  // end, because the loop could not run the task that sets the latch. There it reports an error and
  // returns at once. (A simulated loop runs its other tasks meanwhile.)
  virtual void Await(const Latch& latch) { latch.Wait(); }
  // Whether Await() would wait. Functions that may wait check it first, and return
  // kFailedPrecondition if not.
  virtual bool CanAwait() const { return true; }
};

// An executor with one thread, which runs the tasks in the order in which they were posted.
class Loop : public Executor {
 public:
  // Destroying it cancels the timer. If that happens on the loop's thread, the task does not run
  // afterwards.
  class Timer {
   public:
    virtual ~Timer() = default;
  };

  // Runs `task` on the loop at clock().TimeNow() >= `when`. Loop thread only.
  [[nodiscard]] virtual std::unique_ptr<Timer> RunAt(absl::Time when, Task task) = 0;

  // Whether the caller is a task of this loop.
  virtual bool IsCurrent() const = 0;

  virtual const Clock& clock() const = 0;
};

}  // namespace mandate
