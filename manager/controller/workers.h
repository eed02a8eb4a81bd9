// Who takes requests from a controller's queue, on a pool that controllers share.
#ifndef MANAGER_CONTROLLER_WORKERS_H_
#define MANAGER_CONTROLLER_WORKERS_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/time/time.h"
#include "manager/controller/reconcile_runner.h"
#include "manager/controller/work_queue.h"
#include "manager/core/clock.h"
#include "manager/core/executor.h"
#include "manager/core/mutex.h"

namespace mandate {

// None works while nothing is ready; who adds to the queue wakes them. Where reconciling takes no
// longer than to be handed a request, all but one leave: beside each other they would mostly wait
// for the queue, and do less than one alone. Thread-safe.
class Workers {
 public:
  struct Options {
    int max = 1;  // at once
    // These outlive this.
    WorkQueue* queue = nullptr;
    ReconcileRunner* runner = nullptr;
    Executor* pool = nullptr;
    const Clock* clock = nullptr;
    std::function<void()> on_requeue;  // a request that waits for its time was added; any thread
    // One has left while there may be more to do. Should who stays get stuck, nobody would notice:
    // Relieve() is to be called soon. Any thread.
    std::function<void()> on_left;
  };

  explicit Workers(Options options) : options_(std::move(options)) {}

  // Before it, nothing wakes them. `owner` owns this, and is kept by those who work.
  void Start(std::weak_ptr<void> owner);

  // Wakes one if none works. False: there are some, and it takes a Pump() to tell whether they are
  // enough. Cheap: to be called after each Add().
  bool WakeFirst();
  // Wakes as many as there are ready requests.
  void Pump() { Wake(std::numeric_limits<size_t>::max()); }
  // Wakes one if a request is ready. False: none is, or no more may work.
  bool Relieve() { return Wake(1) > 0; }

  // Lets the queue hand out nothing more, and cancels the contexts of what runs.
  void RequestStop();
  // Set when that is asked for and none works any more, or by GiveUp().
  const Latch& drained() const { return drained_; }
  void GiveUp() { drained_.Set(); }

  // How many work.
  int count() const;

 private:
  enum class TurnEnd {
    kNothingReady,
    kTimeIsUp,
    kWasTrivial,  // the time is up too
  };

  // How many it woke: at most `most`, and as many as there are ready requests.
  size_t Wake(size_t most);
  void Post();
  void Work();
  TurnEnd WorkATurn();
  // False: there is nobody else.
  bool Leave();

  const Options options_;
  std::stop_source stop_;
  Latch drained_;

  mutable Mutex mutex_;
  std::weak_ptr<void> owner_ ABSL_GUARDED_BY(mutex_);
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;  // posted to the pool or running there
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_WORKERS_H_
