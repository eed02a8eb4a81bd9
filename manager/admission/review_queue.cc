#include "manager/admission/review_queue.h"

#include <algorithm>

#include "manager/core/fair_share.h"

namespace mandate {
namespace {

// A user may have so many times the reviews and bytes that stay free.
constexpr size_t kReviewShare = 4;
// The same of threads: a user has at most half of them.
constexpr size_t kThreadShare = 1;

size_t Left(size_t bound, size_t used) { return bound - std::min(bound, used); }

}  // namespace

uint64_t ReviewQueue::NewReviewId() {
  MutexLock lock(mutex_);
  return next_++;
}

void ReviewQueue::Add(uint64_t number, size_t bytes, Reader reader) {
  {
    MutexLock lock(mutex_);
    unread_.emplace(number, Unread{bytes, std::move(reader)});
  }
  Dispatch();
}

void ReviewQueue::Cancel(uint64_t number) {
  Unread unread;  // destroyed without the lock, as the next
  Waiting handler;
  {
    MutexLock lock(mutex_);
    if (reading_.erase(number) > 0) return;
    if (const auto found = unread_.find(number); found != unread_.end()) {
      unread = std::move(found->second);
      unread_.erase(found);
      return;
    }
    for (auto it = flows_.begin(); it != flows_.end(); ++it) {
      const auto found = it->second.waiting.find(number);
      if (found == it->second.waiting.end()) continue;
      handler = std::move(found->second);
      it->second.waiting.erase(found);
      Forget(it, handler.bytes);
      return;
    }
  }
}

void ReviewQueue::Dispatch() {
  while (auto task = Take()) {
    workers_.Post([self = shared_from_this(), task = *std::move(task)]() mutable {
      std::move(task)();
      {
        MutexLock lock(self->mutex_);
        --self->busy_;
      }
      self->Dispatch();
    });
  }
}

std::optional<Executor::Task> ReviewQueue::Take() {
  MutexLock lock(mutex_);
  if (busy_ >= options_.threads) return std::nullopt;
  auto task = TakeLocked();
  if (task.has_value()) ++busy_;
  return task;
}

std::optional<Executor::Task> ReviewQueue::TakeLocked() {
  if (!unread_.empty()) {
    const auto oldest = unread_.begin();
    const uint64_t number = oldest->first;
    reading_.insert(number);
    Executor::Task task = [this, number, unread = std::move(oldest->second)]() mutable {
      Read(number, std::move(unread));
    };
    unread_.erase(oldest);
    return task;
  }
  // At most as many flows as reviews in flight.
  auto best = flows_.end();
  for (auto it = flows_.begin(); it != flows_.end(); ++it) {
    const Flow& flow = it->second;
    if (flow.waiting.empty() ||
        !MayTakeShare(static_cast<size_t>(flow.running),
                      static_cast<size_t>(options_.threads - busy_), kThreadShare)) {
      continue;
    }
    if (best == flows_.end() || flow.order() < best->second.order()) best = it;
  }
  if (best == flows_.end()) return std::nullopt;
  Flow& flow = best->second;
  const auto oldest = flow.waiting.begin();
  Executor::Task task = [this, user = best->first, handler = std::move(oldest->second)]() mutable {
    {
      Executor::Task run = std::move(handler.run);
      std::move(run)();
    }
    OnHandled(user, handler.bytes);
  };
  flow.waiting.erase(oldest);
  ++flow.running;
  flow.served = true;
  flow.turn = next_turn_++;
  return task;
}

void ReviewQueue::Read(uint64_t number, Unread unread) {
  Handler handler = std::move(unread.reader)();
  {
    MutexLock lock(mutex_);
    if (reading_.erase(number) == 0) return;  // cancelled
    if (Enqueue(number, unread.bytes, handler)) return;
  }
  std::move(handler.reject)();
}

bool ReviewQueue::Enqueue(uint64_t number, size_t bytes, Handler& handler) {
  const auto [it, is_new] = flows_.try_emplace(std::move(handler.user));
  Flow& flow = it->second;
  if (!is_new &&
      (!MayTakeShare(flow.reviews(), Left(options_.max_reviews, reviews_), kReviewShare) ||
       !MayTakeShare(flow.bytes, Left(options_.max_bytes, bytes_), kReviewShare))) {
    return false;
  }
  if (flow.waiting.empty()) flow.turn = next_turn_++;
  flow.waiting.emplace(number, Waiting{std::move(handler.run), bytes});
  flow.bytes += bytes;
  bytes_ += bytes;
  ++reviews_;
  return true;
}

void ReviewQueue::OnHandled(const User& user, size_t bytes) {
  MutexLock lock(mutex_);
  const auto it = flows_.find(user);
  --it->second.running;
  Forget(it, bytes);
}

void ReviewQueue::Forget(Flows::iterator it, size_t bytes) {
  it->second.bytes -= bytes;
  bytes_ -= bytes;
  --reviews_;
  if (it->second.reviews() == 0) flows_.erase(it);
}

}  // namespace mandate
