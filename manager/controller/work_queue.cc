#include "manager/controller/work_queue.h"

#include <algorithm>
#include <cmath>

namespace mandate {
namespace {

// Items kept for reuse; and levels of priority kept although empty.
constexpr size_t kMaxFree = 1024;
constexpr size_t kMaxEmptyLevels = 32;

}  // namespace

WorkQueue::WorkQueue(Options options)
    : options_(options),
      inbox_(options.max_items),
      expected_(std::min(options.max_items, Inbox::kMaxEntries)) {}

WorkQueue::~WorkQueue() {
  for (auto& [priority, level] : ready_) level.clear();
  processing_.clear();
  for (WorkItem* item : table_) delete item;
}

bool WorkQueue::Add(const Request& request, AddOptions options, absl::Time now) {
  const size_t hash = absl::HashOf(request);
  const bool at_once = options.after <= absl::ZeroDuration();
  if (at_once && inbox_.Push(request, hash, options.priority, now)) return true;
  Request copy = request;
  MutexLock lock(mutex_);
  if (shut_down_) return true;
  Drain(/*reserved=*/1);
  WorkItem* item = FindOrCreate(copy, hash);
  if (item == nullptr) return false;
  Enqueue(*item, options.priority, at_once ? now : now + options.after, now);
  return true;
}

void WorkQueue::RetryNow(absl::Time now) {
  MutexLock lock(mutex_);
  Drain(0);
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
  return Next(now);
}

void WorkQueue::Done(const WorkItem& item, const Outcome& outcome, absl::Time now) {
  MutexLock lock(mutex_);
  Finish(const_cast<WorkItem&>(item), outcome, now);
}

const WorkItem* WorkQueue::DoneAndGet(const WorkItem& item, const Outcome& outcome,
                                      absl::Time now) {
  MutexLock lock(mutex_);
  Finish(const_cast<WorkItem&>(item), outcome, now);
  return Next(now);
}

WorkItem* WorkQueue::Next(absl::Time now) {
  if (shut_down_) return nullptr;
  auto level = ready_.begin();
  const auto skip_empty = [&] {
    while (level != ready_.end() && level->second.empty()) ++level;
  };
  skip_empty();
  // What is in the inbox comes after those of its priority that are ready.
  if (inbox_.top() > (level == ready_.end() ? Inbox::kEmpty : level->first) ||
      (!waiting_.empty() && waiting_.begin()->first.first <= now)) {
    Drain(0);
    Promote(now);
    level = ready_.begin();
    skip_empty();
  }
  if (level == ready_.end()) return nullptr;
  WorkItem& item = level->second.front();
  level->second.pop_front();
  processing_.push_back(item);
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

void WorkQueue::Finish(WorkItem& item, const Outcome& outcome, absl::Time now) {
  counts_.worked.Observe(now - item.started_);
  if (shut_down_) {
    item.failures_ = 0;
  } else {
    switch (outcome.next) {
      case Outcome::Next::kNothing:
        item.failures_ = 0;
        item.retry_at_ = absl::InfinitePast();
        break;
      case Outcome::Next::kRequeueAfter:
        item.failures_ = 0;
        item.retry_at_ = absl::InfinitePast();
        Drain(0);
        Enqueue(item, item.handed_priority_, now + outcome.after, now);
        break;
      case Outcome::Next::kRetry:
        Drain(0);
        ++counts_.retries;
        Enqueue(item, item.handed_priority_, RetryTime(item, now), now);
        break;
    }
  }
  item.processing_ = false;
  processing_.erase(processing_.iterator_to(item));
  if (item.place_ == WorkItem::Place::kReady) {
    ++ready_count_;
    ready_[item.priority_].push_back(item);
  } else if (item.place_ == WorkItem::Place::kNowhere && item.failures_ == 0) {
    Release(item);
  }
}

absl::Time WorkQueue::RetryTime(WorkItem& item, absl::Time now) {
  if (now >= item.retry_at_) {
    // The exponent is bounded so that the product stays finite.
    const absl::Duration delay =
        options_.base_delay * std::ldexp(1.0, std::min(item.failures_, 60));
    ++item.failures_;
    item.retry_at_ = now + std::min(delay, options_.max_delay);
  }
  return item.retry_at_;
}

absl::Time WorkQueue::NextReady() const {
  MutexLock lock(mutex_);
  return waiting_.empty() ? absl::InfiniteFuture() : waiting_.begin()->first.first;
}

size_t WorkQueue::Len(absl::Time now) {
  MutexLock lock(mutex_);
  Drain(0);
  Promote(now);
  return ready_count_;
}

size_t WorkQueue::Items() {
  MutexLock lock(mutex_);
  Drain(0);
  return table_.size();
}

void WorkQueue::ShutDown() {
  MutexLock lock(mutex_);
  shut_down_ = true;
  expected_ = inbox_.Take(drained_, /*room=*/0);
  waiting_.clear();
  ready_count_ = 0;
  for (auto& [priority, level] : ready_) level.clear();
  for (auto it = table_.begin(); it != table_.end();) {
    WorkItem* item = *it;
    if (item->processing_) {
      item->place_ = WorkItem::Place::kNowhere;
      ++it;
    } else {
      table_.erase(it++);
      delete item;
    }
  }
}

void WorkQueue::UpdateMetrics(QueueMetrics& metrics, absl::Time now) {
  QueueCounts counts;
  QueueGauges gauges;
  {
    MutexLock lock(mutex_);
    Drain(0);
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

void WorkQueue::Drain(size_t reserved) {
  if (shut_down_) return;
  // table_ and what the inbox has fit; the reserved items may not.
  const size_t room = options_.max_items - std::min(options_.max_items, table_.size() + reserved);
  expected_ = inbox_.Take(drained_, room);
  for (size_t i = 0; i < drained_.count; ++i) {
    Inbox::Entry& entry = drained_.entries[i];
    WorkItem* item = FindOrCreate(entry.request, entry.hash);
    Enqueue(*item, entry.priority, entry.at, entry.at);
  }
}

WorkItem* WorkQueue::FindOrCreate(Request& request, size_t hash) {
  const Key key{request, hash};
  const auto it = table_.find(key);
  if (it != table_.end()) return *it;
  if (table_.size() + expected_ >= options_.max_items) {
    ++counts_.refused;
    return nullptr;
  }
  std::unique_ptr<WorkItem> item;
  if (free_.empty()) {
    item = std::make_unique<WorkItem>();
  } else {
    item = std::move(free_.back());
    free_.pop_back();
  }
  std::swap(item->request_, request);
  item->hash_ = hash;
  item->place_ = WorkItem::Place::kNowhere;
  item->processing_ = false;
  item->failures_ = 0;
  item->retry_at_ = absl::InfinitePast();
  table_.insert(item.get());
  return item.release();
}

void WorkQueue::Enqueue(WorkItem& item, int priority, absl::Time ready_at, absl::Time now) {
  // Who became ready before now is ahead of who becomes so now.
  Promote(now);
  switch (item.place_) {
    case WorkItem::Place::kReady:
      if (priority > item.priority_) {
        if (!item.processing_) {
          ItemList& level = ready_[item.priority_];
          level.erase(level.iterator_to(item));
          ready_[priority].push_back(item);
        }
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
  if (item.processing_) return;  // Finish() will queue it
  ready_[item.priority_].push_back(item);
  ++ready_count_;
}

void WorkQueue::Promote(absl::Time now) {
  while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
    WorkItem& item = *waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    MakeReady(item, item.due_.first);
  }
}

void WorkQueue::Release(WorkItem& item) {
  table_.erase(&item);
  std::unique_ptr<WorkItem> owned(&item);
  if (free_.size() < kMaxFree) free_.push_back(std::move(owned));
}

}  // namespace mandate
