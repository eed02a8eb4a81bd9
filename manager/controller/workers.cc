#include "manager/controller/workers.h"

#include <cstddef>
#include <utility>

namespace mandate {
namespace {

// After this time a worker gives the workers of other controllers a turn.
constexpr absl::Duration kTurn = absl::Milliseconds(1);

}  // namespace

void Workers::Start(std::weak_ptr<void> owner) {
  {
    MutexLock lock(mutex_);
    owner_ = std::move(owner);
    running_ = !stopping_;
  }
  WakeAsNeeded();
}

bool Workers::WakeFirst() {
  {
    MutexLock lock(mutex_);
    if (!running_ || count_ == options_.max) return true;
    if (count_ > 0) return false;
    ++count_;
  }
  Post();
  return true;
}

void Workers::WakeAsNeeded() {
  const size_t ready = options_.queue->Len(options_.clock->TimeNow());
  size_t woken = 0;
  {
    MutexLock lock(mutex_);
    if (!running_) return;
    while (woken < ready && count_ < options_.max) {
      ++count_;
      ++woken;
    }
  }
  for (size_t i = 0; i < woken; ++i) Post();
}

void Workers::RequestStop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    running_ = false;
    if (count_ == 0) drained_.Set();
  }
  options_.queue->ShutDown();
  stop_.request_stop();
}

int Workers::count() const {
  MutexLock lock(mutex_);
  return count_;
}

void Workers::Post() {
  std::shared_ptr<void> owner;
  {
    MutexLock lock(mutex_);
    owner = owner_.lock();
  }
  options_.pool->Post([this, owner = std::move(owner)] { Work(); });
}

void Workers::Work() {
  if (WorkATurn()) return Post();  // to the end of the pool's queue
  {
    MutexLock lock(mutex_);
    --count_;
    if (stopping_ && count_ == 0) drained_.Set();
  }
  // No other worker takes requests that were added after Get() and before this worker was counted
  // out.
  WakeAsNeeded();
}

bool Workers::WorkATurn() {
  absl::Time now = options_.clock->TimeNow();
  const absl::Time end = now + kTurn;
  WorkQueue& queue = *options_.queue;
  const WorkItem* item = queue.Get(now);
  if (item == nullptr) return false;
  ReconcileRunner::Batch batch(*options_.runner, stop_.get_token());
  while (item != nullptr) {
    const Outcome outcome = batch.Run(item->request(), now);
    const bool last = now >= end;
    if (last) {
      queue.Done(*item, outcome, now);
    } else {
      item = queue.DoneAndGet(*item, outcome, now);
    }
    if (outcome.next != Outcome::Next::kNothing) options_.on_requeue();
    if (last) return true;
  }
  return false;
}

}  // namespace mandate
