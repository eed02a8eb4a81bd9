#include "manager/controller/workers.h"

#include <cstddef>
#include <utility>

namespace mandate {
namespace {

// For how long a worker goes on before those of other controllers have their turn.
constexpr absl::Duration kTurn = absl::Milliseconds(1);

}  // namespace

void Workers::Start(std::weak_ptr<void> owner) {
  {
    MutexLock lock(mutex_);
    owner_ = std::move(owner);
    running_ = !stopping_;
  }
  Pump();
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

void Workers::Pump() {
  const size_t ready = options_.queue->Len(options_.clock->TimeNow());
  size_t wanted = 0;
  {
    MutexLock lock(mutex_);
    if (!running_) return;
    while (wanted < ready && count_ < options_.max) {
      ++count_;
      ++wanted;
    }
  }
  for (; wanted > 0; --wanted) Post();
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
  if (WorkATurn()) {
    // Back to the end of the pool's queue.
    Post();
    return;
  }
  {
    MutexLock lock(mutex_);
    --count_;
    if (stopping_ && count_ == 0) drained_.Set();
  }
  // What was added after Get() and before the worker was counted out is nobody's but ours.
  Pump();
}

bool Workers::WorkATurn() {
  absl::Time now = options_.clock->TimeNow();
  const absl::Time end = now + kTurn;
  const std::stop_token stop = stop_.get_token();
  WorkQueue& queue = *options_.queue;
  const WorkItem* item = queue.Get(now);
  while (item != nullptr) {
    const Outcome outcome = options_.runner->Run(item->request(), stop, now);
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
