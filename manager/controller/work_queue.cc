#include "manager/controller/work_queue.h"

#include <algorithm>
#include <cmath>

namespace mandate {
namespace {

// Nodes kept for reuse; and levels of priority kept although empty.
constexpr size_t kMaxFree = 1024;
constexpr size_t kMaxEmptyLevels = 32;

}  // namespace

bool WorkQueue::Add(const Request& request, AddOptions options, absl::Time now) {
  MutexLock lock(mutex_);
  if (shut_down_) return true;
  WorkItem* item = FindOrCreate(request);
  if (item == nullptr) return false;
  Enqueue(*item, options.priority, now + std::max(options.after, absl::ZeroDuration()), now);
  return true;
}

bool WorkQueue::AddRateLimited(const Request& request, int priority, absl::Time now) {
  MutexLock lock(mutex_);
  if (shut_down_) return true;
  WorkItem* item = FindOrCreate(request);
  if (item == nullptr) return false;
  if (now >= item->retry_at_) {
    // The exponent is bounded so that the product stays finite.
    const absl::Duration delay =
        options_.base_delay * std::ldexp(1.0, std::min(item->failures_, 60));
    ++item->failures_;
    item->retry_at_ = now + std::min(delay, options_.max_delay);
  }
  ++counts_.retries;
  Enqueue(*item, priority, item->retry_at_, now);
  return true;
}

void WorkQueue::RetryNow(absl::Time now) {
  MutexLock lock(mutex_);
  Promote(now);
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    WorkItem& item = *it->second;
    if (item.failures_ == 0) {
      ++it;
      continue;
    }
    it = waiting_.erase(it);
    MakeReady(item, now);
  }
}

const WorkItem* WorkQueue::Get(absl::Time now) {
  MutexLock lock(mutex_);
  if (shut_down_) return nullptr;
  Promote(now);
  for (auto level = ready_.begin(); level != ready_.end(); ++level) {
    if (level->second.empty()) continue;
    WorkItem& item = level->second.front();
    MoveTo(processing_, level->second, item);
    if (level->second.empty() && ready_.size() > kMaxEmptyLevels) ready_.erase(level);
    --ready_count_;
    item.place_ = WorkItem::Place::kNowhere;
    item.processing_ = true;
    item.handed_priority_ = item.priority_;
    item.started_ = now;
    // A worker's time may be a little older than the loop's.
    counts_.queued.Observe(std::max(now - item.since_, absl::ZeroDuration()));
    return &item;
  }
  return nullptr;
}

void WorkQueue::Forget(const WorkItem& handed) {
  MutexLock lock(mutex_);
  WorkItem& item = *handed.self_;
  item.failures_ = 0;
  item.retry_at_ = absl::InfinitePast();
}

void WorkQueue::Done(const WorkItem& handed, absl::Time now) {
  MutexLock lock(mutex_);
  WorkItem& item = *handed.self_;
  item.processing_ = false;
  counts_.worked.Observe(now - item.started_);
  switch (item.place_) {
    case WorkItem::Place::kReady:
      ++ready_count_;
      MoveTo(ready_[item.priority_], processing_, item);
      break;
    case WorkItem::Place::kWaiting:
      MoveTo(parked_, processing_, item);
      break;
    case WorkItem::Place::kNowhere:
      MoveTo(parked_, processing_, item);
      ReleaseIfIdle(item);
      break;
  }
}

absl::Time WorkQueue::NextReady() const {
  MutexLock lock(mutex_);
  return waiting_.empty() ? absl::InfiniteFuture() : waiting_.begin()->first.first;
}

size_t WorkQueue::Len(absl::Time now) {
  MutexLock lock(mutex_);
  Promote(now);
  return ready_count_;
}

size_t WorkQueue::Items() const {
  MutexLock lock(mutex_);
  return table_.size();
}

void WorkQueue::ShutDown() {
  MutexLock lock(mutex_);
  shut_down_ = true;
  waiting_.clear();
  ready_count_ = 0;
  for (auto& [priority, level] : ready_) {
    for (WorkItem& item : level) table_.erase(&item);
    level.clear();
  }
  for (WorkItem& item : parked_) table_.erase(&item);
  parked_.clear();
  for (WorkItem& item : processing_) item.place_ = WorkItem::Place::kNowhere;
}

void WorkQueue::UpdateMetrics(QueueMetrics& metrics, absl::Time now) {
  QueueCounts counts;
  QueueGauges gauges;
  {
    MutexLock lock(mutex_);
    Promote(now);
    std::swap(counts, counts_);
    for (const auto& [priority, level] : ready_) gauges.depth.emplace(priority, level.size());
    for (const WorkItem& item : processing_) {
      gauges.unfinished += now - item.started_;
      gauges.longest = std::max(gauges.longest, now - item.started_);
    }
  }
  metrics.Update(std::move(counts), gauges);
}

WorkItem* WorkQueue::FindOrCreate(const Request& request) {
  const Key key{request, absl::HashOf(request)};
  if (auto it = table_.find(key); it != table_.end()) return *it;
  if (table_.size() >= options_.max_items) {
    ++counts_.refused;
    return nullptr;
  }
  if (free_.empty()) free_.emplace_back();
  WorkItem& item = free_.front();
  item.self_ = free_.begin();
  item.request_ = request;
  item.hash_ = key.hash;
  item.place_ = WorkItem::Place::kNowhere;
  item.processing_ = false;
  item.failures_ = 0;
  item.retry_at_ = absl::InfinitePast();
  MoveTo(parked_, free_, item);
  table_.insert(&item);
  return &item;
}

void WorkQueue::Enqueue(WorkItem& item, int priority, absl::Time ready_at, absl::Time now) {
  // Who became ready before now is ahead of who becomes so now.
  Promote(now);
  switch (item.place_) {
    case WorkItem::Place::kReady:
      if (priority > item.priority_) {
        if (!item.processing_) MoveTo(ready_[priority], ready_[item.priority_], item);
        item.priority_ = priority;
      }
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
  item.since_ = since;
  ++counts_.adds;
  if (item.processing_) return;  // Done() will queue it
  MoveTo(ready_[item.priority_], parked_, item);
  ++ready_count_;
}

void WorkQueue::Promote(absl::Time now) {
  while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
    WorkItem& item = *waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    MakeReady(item, item.due_.first);
  }
}

void WorkQueue::MoveTo(ItemList& to, ItemList& from, WorkItem& item) {
  to.splice(to.end(), from, item.self_);
}

void WorkQueue::ReleaseIfIdle(WorkItem& item) {
  if (item.failures_ > 0 && !shut_down_) return;
  table_.erase(&item);
  if (free_.size() < kMaxFree) {
    MoveTo(free_, parked_, item);
  } else {
    parked_.erase(item.self_);
  }
}

}  // namespace mandate
