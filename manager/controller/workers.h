// The workers of a controller's queue, on a pool that controllers share.
#pragma once

#include <functional>
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

// Workers that run while requests are ready. The caller of WorkQueue::Add() wakes them.
// Thread-safe.
class Workers {
 public:
  struct Options {
    int max = 1;  // at once
    // These outlive this.
    WorkQueue* queue = nullptr;
    ReconcileRunner* runner = nullptr;
    Executor* pool = nullptr;
    const Clock* clock = nullptr;
    std::function<void()> on_requeue;  // a request now waits for its time; any thread
  };

  explicit Workers(Options options) : options_(std::move(options)) {}

  // Nothing wakes the workers before Start(). `owner` owns this; running workers keep it alive.
  void Start(std::weak_ptr<void> owner);

  // Wakes a worker if none runs. Returns false if some run: then only WakeAsNeeded() can tell
  // whether they are enough. Cheap: to be called after each Add().
  bool WakeFirst();
  // Wakes as many as there are ready requests.
  void WakeAsNeeded();

  // Shuts the queue down, and cancels the contexts of the running reconcilers.
  void RequestStop();
  // Set when no worker runs after RequestStop(), or by Abandon().
  const Latch& drained() const { return drained_; }
  void Abandon() { drained_.Set(); }

  // How many run.
  int count() const;

 private:
  void Post();
  void Work();
  // Returns false if nothing was ready at the end.
  bool WorkATurn();

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
