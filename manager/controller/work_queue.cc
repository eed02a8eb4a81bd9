#include "manager/controller/work_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mandate {
namespace {

// One of so many choices between priorities is for a lower one.
constexpr size_t kLowersTurn = 4;

WorkQueue::Options WithLimiter(WorkQueue::Options options) {
  if (options.rate_limiter == nullptr) {
    options.rate_limiter = ExponentialLimiter(options.base_delay, options.max_delay);
  }
  return options;
}

}  // namespace

WorkQueue::WorkQueue(Options options) : options_(WithLimiter(std::move(options))) {}

WorkQueue::~WorkQueue() { processing_.clear(); }

bool WorkQueue::Add(const Request& request, AddOptions options, absl::Time now) {
  AdaptiveMutexLock lock(mutex_);
  if (shut_down_) return true;
  auto it = items_.find(request);
  if (it == items_.end()) {
    if (items_.size() >= options_.max_items) {
      ++counts_.rejected;
      return false;
    }
    it = items_.try_emplace(request).first;
    it->second.request_ = &it->first;
  }
  // An item that became ready before `now` goes before one that becomes ready now.
  Promote(now);
  const bool at_once = options.after <= absl::ZeroDuration();
  Enqueue(it->second, options.priority, at_once ? now : now + options.after, now);
  return true;
}

void WorkQueue::RetryNow(absl::Time now) {
  AdaptiveMutexLock lock(mutex_);
  Promote(now);
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    WorkItem& item = *it->second;
    if (item.failures_ == 0 || item.not_before_ > now) {
      ++it;
      continue;
    }
    it = waiting_.erase(it);
    MakeReady(item, now);
  }
}

const WorkItem* WorkQueue::Get(absl::Time now) {
  AdaptiveMutexLock lock(mutex_);
  return Next(now);
}

void WorkQueue::Done(const WorkItem& item, const Outcome& outcome, absl::Time now) {
  AdaptiveMutexLock lock(mutex_);
  Finish(const_cast<WorkItem&>(item), outcome, now);
}

const WorkItem* WorkQueue::DoneAndGet(const WorkItem& item, const Outcome& outcome,
                                      absl::Time now) {
  AdaptiveMutexLock lock(mutex_);
  Finish(const_cast<WorkItem&>(item), outcome, now);
  return Next(now);
}

WorkItem* WorkQueue::Next(absl::Time now) {
  Promote(now);
  WorkItem* const next = TakeFirst();
  if (next == nullptr) return nullptr;
  WorkItem& item = *next;
  Occupy(item.request().key.ns);
  processing_.push_back(item);
  item.place_ = WorkItem::Place::kNowhere;
  item.processing_ = true;
  item.handed_priority_ = item.priority_;
  item.started_ = absl::ToUnixNanos(now);
  // A worker's time may be a little older than the loop's.
  counts_.queued.Observe(std::max<int64_t>(item.started_ - item.since_, 0));
  return &item;
}

WorkItem* WorkQueue::TakeFirst() {
  const auto has_turn = [](const auto& level) { return level.second.HasTurn(); };
  const auto levels = static_cast<size_t>(std::ranges::count_if(ready_, has_turn));
  if (levels == 0) return nullptr;
  size_t skipped = 0;
  if (levels > 1 && ++choices_ % kLowersTurn == 0) {
    skipped = 1 + choices_ / kLowersTurn % (levels - 1);
  }
  auto level = std::ranges::find_if(ready_, has_turn);
  for (; skipped > 0; --skipped) level = std::find_if(std::next(level), ready_.end(), has_turn);
  WorkItem& item = level->second.Pop();
  if (level->second.empty()) ready_.erase(level);
  --ready_count_;
  return &item;
}

void WorkQueue::Occupy(const std::string& ns) {
  if (options_.max_of_namespace == 0 || ns.empty()) return;
  if (++occupied_[ns] != options_.max_of_namespace) return;
  for (auto& [priority, level] : ready_) level.SetHeld(ns, true);
}

void WorkQueue::Vacate(const std::string& ns) {
  const auto it = occupied_.find(ns);
  if (it == occupied_.end()) return;
  if (it->second == options_.max_of_namespace) {
    for (auto& [priority, level] : ready_) level.SetHeld(ns, false);
  }
  if (--it->second == 0) occupied_.erase(it);
}

bool WorkQueue::IsFull(const std::string& ns) const {
  const auto it = occupied_.find(ns);
  return it != occupied_.end() && it->second == options_.max_of_namespace;
}

void WorkQueue::Finish(WorkItem& item, const Outcome& outcome, absl::Time now) {
  // As in Add().
  Promote(now);
  counts_.worked.Observe(absl::ToUnixNanos(now) - item.started_);
  if (!shut_down_ && outcome.next == Outcome::Next::kRetry) {
    ++counts_.retries;
    Enqueue(item, item.handed_priority_, RetryTime(item, outcome.after, now), now);
  } else {
    if (item.failures_ > 0) --failing_;
    item.failures_ = 0;
    item.retry_at_ = item.not_before_ = absl::InfinitePast();
    if (!shut_down_ && outcome.next == Outcome::Next::kRequeueAfter) {
      Enqueue(item, outcome.priority.value_or(item.handed_priority_), now + outcome.after, now);
    }
  }
  item.processing_ = false;
  processing_.erase(processing_.iterator_to(item));
  Vacate(item.request().key.ns);
  if (item.place_ == WorkItem::Place::kReady) {
    PushReady(item);
  } else if (item.place_ == WorkItem::Place::kNowhere) {
    items_.erase(items_.find(item.request()));
  }
}

absl::Time WorkQueue::RetryTime(WorkItem& item, absl::Duration after, absl::Time now) {
  if (now >= item.retry_at_) {
    const absl::Duration delay = options_.rate_limiter->When(*item.request_, item.failures_, now);
    if (item.failures_++ == 0) ++failing_;
    item.retry_at_ = now + std::min(delay, options_.max_delay);
  }
  if (after > absl::ZeroDuration()) {
    item.not_before_ = now + std::min(after, options_.max_delay);
    item.retry_at_ = std::max(item.retry_at_, item.not_before_);
  }
  return item.retry_at_;
}

absl::Time WorkQueue::NextReady() const {
  AdaptiveMutexLock lock(mutex_);
  return waiting_.empty() ? absl::InfiniteFuture() : waiting_.begin()->first.first;
}

size_t WorkQueue::Len(absl::Time now) {
  AdaptiveMutexLock lock(mutex_);
  Promote(now);
  size_t available = 0;
  for (const auto& [priority, level] : ready_) available += level.available();
  return available;
}

size_t WorkQueue::Items() const {
  AdaptiveMutexLock lock(mutex_);
  return items_.size();
}

void WorkQueue::ShutDown() {
  AdaptiveMutexLock lock(mutex_);
  shut_down_ = true;
  waiting_.clear();
  ready_.clear();
  ready_count_ = 0;
  for (WorkItem& item : processing_) item.place_ = WorkItem::Place::kNowhere;
  absl::erase_if(items_, [](const auto& entry) { return !entry.second.processing_; });
  failing_ = static_cast<size_t>(
      std::ranges::count_if(processing_, [](const WorkItem& item) { return item.failures_ > 0; }));
}

void WorkQueue::UpdateMetrics(QueueMetrics& metrics, absl::Time now) {
  QueueCounts counts;
  QueueGauges gauges;
  {
    AdaptiveMutexLock lock(mutex_);
    Promote(now);
    std::swap(counts, counts_);
    if (items_.empty()) items_.clear();  // frees a table that has grown
    for (const auto& [priority, level] : ready_) gauges.depth.emplace(priority, level.size());
    for (const WorkItem& item : processing_) {
      const absl::Duration took = now - absl::FromUnixNanos(item.started_);
      gauges.unfinished += took;
      gauges.longest = std::max(gauges.longest, took);
    }
  }
  metrics.Update(std::move(counts), gauges);
}

void WorkQueue::Enqueue(WorkItem& item, int priority, absl::Time ready_at, absl::Time now) {
  switch (item.place_) {
    case WorkItem::Place::kReady:
      if (priority <= item.priority_) return;
      if (!item.processing_) RemoveFromReady(item);
      item.priority_ = priority;
      if (!item.processing_) PushReady(item);  // else Finish() will queue it
      return;
    case WorkItem::Place::kWaiting:
      item.priority_ = std::max(item.priority_, priority);
      if (ready_at >= item.due_.first) return;
      waiting_.erase(item.due_);
      break;
    case WorkItem::Place::kNowhere:
      item.priority_ = priority;
      break;
  }
  if (ready_at <= now) {
    MakeReady(item, now);
  } else {
    item.place_ = WorkItem::Place::kWaiting;
    item.due_ = {ready_at, sequence_++};
    waiting_.emplace(item.due_, &item);
  }
}

void WorkQueue::MakeReady(WorkItem& item, absl::Time since) {
  item.place_ = WorkItem::Place::kReady;
  item.since_ = absl::ToUnixNanos(since);
  ++counts_.adds;
  if (!item.processing_) PushReady(item);  // else Finish() will queue it
}

void WorkQueue::PushReady(WorkItem& item) {
  ready_[item.priority_].Push(item, IsFull(item.request().key.ns));
  ++ready_count_;
}

void WorkQueue::RemoveFromReady(WorkItem& item) {
  const auto level = ready_.find(item.priority_);
  level->second.Remove(item);
  if (level->second.empty()) ready_.erase(level);
  --ready_count_;
}

void WorkQueue::Promote(absl::Time now) {
  while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
    WorkItem& item = *waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    MakeReady(item, item.due_.first);
  }
}

}  // namespace mandate
