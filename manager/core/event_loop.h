// The process's I/O thread: file descriptors, timers and tasks, one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/loop_label.h"
#include "manager/core/mutex.h"
#include "manager/core/timer_queue.h"

namespace mandate {

// Owns a thread that runs until Stop(). Post(), IsCurrent(), clock(), stats() and Stop() are
// thread-safe; everything else is for the loop's own thread.
//
// An exception that leaves a task, a timer or a descriptor's callback ends the process, because it
// would leave a state machine in an unknown state.
class EventLoop : public Loop {
 public:
  struct Options {
    std::string thread_name = "event-loop";  // at most 15 characters, for ps and debuggers
    const Clock* clock = &Clock::Real();     // outlives the loop
    // A task, timer or callback that takes longer is remembered, with its LoopLabel (activity()).
    absl::Duration turn_limit = absl::Seconds(1);
    Logger log = {};  // reports a thread that would wait for itself
  };

  struct Stats {
    uint64_t tasks_run = 0;
    uint64_t timers_run = 0;
    uint64_t descriptor_events = 0;
    size_t tasks_queued = 0;
    // The queue has no limit, because its tasks must run exactly once. The callers that post have
    // limits; this metric shows whether these hold.
    size_t most_tasks_queued = 0;
    // The longest time that one task, timer or callback ran.
    absl::Duration longest_run;
  };

  // The watch of a descriptor. Destroying it ends the watch: the callback does not run again.
  class FdWatch {
   public:
    virtual ~FdWatch() = default;
    virtual void SetEvents(uint32_t events) = 0;
  };
  // Called with the EPOLL… events that are set now.
  using FdCallback = absl::AnyInvocable<void(uint32_t events)>;

  // Errors: kResourceExhausted when the process may open no more descriptors.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create(Options options);
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create() { return Create(Options()); }
  ~EventLoop() override;

  void Post(Task task) override;
  std::unique_ptr<Timer> RunAt(absl::Time when, Task task) override;
  bool IsCurrent() const override;
  // On its own thread: reports the error and returns.
  void Await(const Latch& latch) override;
  bool CanAwait() const override { return !IsCurrent(); }
  const Clock& clock() const override { return *options_.clock; }

  // Runs `callback` while `fd` is in one of `events` (EPOLLIN, EPOLLOUT; level-triggered), and on
  // EPOLLERR and EPOLLHUP. `fd` stays the caller's; the watch is destroyed before it is closed.
  [[nodiscard]] absl::StatusOr<std::unique_ptr<FdWatch>> WatchFd(int fd, uint32_t events,
                                                                 FdCallback callback);

  // Waits for the task that is running, destroys the others without running them (on the loop's
  // thread) and ends the thread. Posted tasks are destroyed at once from then on. Not from the
  // loop's own thread. Timers and watches may be destroyed afterwards, from any one thread.
  void Stop();

  // The activity of the loop at this moment, for a LoopWatchdog.
  LoopActivity& activity() { return activity_; }

  // As of the last round of the loop.
  Stats stats() const;

 private:
  class Poller;
  class PolledFd;

  EventLoop(Options options, std::shared_ptr<Poller> poller);
  void Run() noexcept;
  void RunPosted(std::vector<Task>& batch);
  // Runs `work` and notes how long it took.
  template <class Work>
  void Measure(Work&& work);
  // The timeout of epoll_wait: the milliseconds until the next timer, rounded up; -1 without a
  // timer.
  int TimeToNextTimer() const;
  // Waits for descriptors, until a task is posted or a timer is due, and runs their callbacks.
  void Poll();
  void DestroyEverything();

  const Options options_;
  const std::shared_ptr<Poller> poller_;
  const std::shared_ptr<TimerQueue> timers_;

  mutable Mutex mutex_;
  std::vector<Task> posted_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // The thread waits, or is about to, and was not woken yet.
  bool asleep_ ABSL_GUARDED_BY(mutex_) = false;
  Stats stats_ ABSL_GUARDED_BY(mutex_);

  LoopActivity activity_;
  Stats running_;  // the loop thread's own counts, copied to stats_ once a round
  std::atomic<std::thread::id> thread_id_;
  Mutex join_mutex_;
  std::jthread thread_;
};

}  // namespace mandate
