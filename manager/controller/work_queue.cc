#include "manager/controller/work_queue.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace mandate {
namespace {

// What the inbox gets room for: twice what it brought last, within these. Who adds and finds none
// sorts in what is there, which costs both a wait; so there is much where much is added.
constexpr size_t kMinRoom = 32;
constexpr size_t kMaxRoom = 16'384;
// Levels of priority kept although empty.
constexpr size_t kMaxEmptyLevels = 32;
// How many items before its turn memory is fetched: an item's, and the table's for it.
constexpr size_t kItemAhead = 4;
constexpr size_t kSlotAhead = 2;

// The highest priority that has items, or end().
template <class Levels>
auto FirstFilled(Levels& levels) {
  return std::find_if(levels.begin(), levels.end(),
                      [](const auto& level) { return !level.second.empty(); });
}

}  // namespace

WorkQueue::WorkQueue(Options options)
    : options_(options), pool_(options.max_items), table_(pool_) {}

WorkQueue::~WorkQueue() {
  for (auto& [priority, level] : ready_) level.clear();
  processing_.clear();
}

bool WorkQueue::Add(const Request& request, AddOptions options, absl::Time now) {
  const uint32_t hash = WorkItem::HashOf(request);
  const bool at_once = options.after <= absl::ZeroDuration();
  if (at_once && inbox_.Push(request, hash, options.priority, now)) return true;
  BriefMutexLock lock(mutex_);
  if (shut_down_) return true;
  Drain(/*reserved=*/1);
  WorkItem* item = table_.Find(request, hash);
  if (item == nullptr) {
    if (pool_.free().empty()) {
      ++counts_.refused;
      return false;
    }
    item = pool_.free().back();
    pool_.free().pop_back();
    item->request_ = request;
    item->hash_ = hash;
    table_.Insert(*item);
  }
  Enqueue(*item, options.priority, at_once ? now : now + options.after, now);
  return true;
}

void WorkQueue::RetryNow(absl::Time now) {
  BriefMutexLock lock(mutex_);
  Drain(0);
  Promote(now);
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    WorkItem& item = *it->second;
    if (item.failures() == 0 || item.later_->not_before > now) {
      ++it;
      continue;
    }
    it = waiting_.erase(it);
    MakeReady(item, now);
  }
}

const WorkItem* WorkQueue::Get(absl::Time now) {
  BriefMutexLock lock(mutex_);
  return Next(now);
}

void WorkQueue::Done(const WorkItem& item, const Outcome& outcome, absl::Time now) {
  BriefMutexLock lock(mutex_);
  Finish(const_cast<WorkItem&>(item), outcome, now);
}

const WorkItem* WorkQueue::DoneAndGet(const WorkItem& item, const Outcome& outcome,
                                      absl::Time now) {
  BriefMutexLock lock(mutex_);
  Finish(const_cast<WorkItem&>(item), outcome, now);
  return Next(now);
}

WorkItem* WorkQueue::Next(absl::Time now) {
  if (shut_down_) return nullptr;
  auto level = FirstFilled(ready_);
  // What is in the inbox comes after those of its priority that are ready.
  if (inbox_.top() > (level == ready_.end() ? Inbox::kEmpty : level->first) ||
      (!waiting_.empty() && waiting_.begin()->first.first <= now)) {
    Drain(0);
    Promote(now);
    level = FirstFilled(ready_);
  }
  if (level == ready_.end()) return nullptr;
  WorkItem& item = level->second.front();
  level->second.pop_front();
  auto ahead = level->second.begin();
  for (size_t i = 1; ahead != level->second.end(); ++i, ++ahead) {
    if (i == kSlotAhead) table_.Prefetch(ahead->hash_);
    if (i < kItemAhead) continue;
    ahead->Prefetch();
    break;  // before its memory, which has not come yet, is asked who is next
  }
  processing_.push_back(item);
  if (level->second.empty() && ready_.size() > kMaxEmptyLevels) ready_.erase(level);
  --ready_count_;
  item.place_ = WorkItem::Place::kNowhere;
  item.processing_ = true;
  item.handed_priority_ = item.priority_;
  item.started_ = absl::ToUnixNanos(now);
  // A worker's time may be a little older than the loop's.
  counts_.queued.Observe(std::max<int64_t>(item.started_ - item.since_, 0));
  return &item;
}

void WorkQueue::Finish(WorkItem& item, const Outcome& outcome, absl::Time now) {
  counts_.worked.Observe(absl::ToUnixNanos(now) - item.started_);
  if (shut_down_ || outcome.next == Outcome::Next::kNothing) {
    SetNoFailures(item);
  } else if (outcome.next == Outcome::Next::kRequeueAfter) {
    SetNoFailures(item);
    Drain(0);
    Enqueue(item, item.handed_priority_, now + outcome.after, now);
  } else {
    Drain(0);
    ++counts_.retries;
    Enqueue(item, item.handed_priority_, RetryTime(item, outcome.after, now), now);
  }
  item.processing_ = false;
  processing_.erase(processing_.iterator_to(item));
  if (item.place_ == WorkItem::Place::kReady) {
    ++ready_count_;
    ready_[item.priority_].push_back(item);
  } else if (item.place_ == WorkItem::Place::kNowhere) {
    Release(item);
  }
}

void WorkQueue::SetNoFailures(WorkItem& item) {
  if (item.later_ == nullptr) return;
  item.later_->failures = 0;
  item.later_->retry_at = item.later_->not_before = absl::InfinitePast();
}

absl::Time WorkQueue::RetryTime(WorkItem& item, absl::Duration after, absl::Time now) {
  if (item.later_ == nullptr) item.later_ = std::make_unique<WorkItem::Later>();
  WorkItem::Later& later = *item.later_;
  if (now >= later.retry_at) {
    // The exponent is bounded so that the product stays finite.
    const absl::Duration delay =
        options_.base_delay * std::ldexp(1.0, std::min(later.failures, 60));
    ++later.failures;
    later.retry_at = now + std::min(delay, options_.max_delay);
  }
  if (after > absl::ZeroDuration()) {
    later.not_before = now + std::min(after, options_.max_delay);
    later.retry_at = std::max(later.retry_at, later.not_before);
  }
  return later.retry_at;
}

absl::Time WorkQueue::NextReady() const {
  BriefMutexLock lock(mutex_);
  return waiting_.empty() ? absl::InfiniteFuture() : waiting_.begin()->first.first;
}

size_t WorkQueue::Len(absl::Time now) {
  BriefMutexLock lock(mutex_);
  Drain(0);
  Promote(now);
  return ready_count_;
}

size_t WorkQueue::Items() {
  BriefMutexLock lock(mutex_);
  Drain(0);
  return table_.size();
}

size_t WorkQueue::MemoryBytes() const {
  BriefMutexLock lock(mutex_);
  return pool_.made() * sizeof(WorkItem);
}

void WorkQueue::ShutDown() {
  BriefMutexLock lock(mutex_);
  shut_down_ = true;
  inbox_.Take(drained_, /*room=*/0, pool_.free());
  drained_.clear();
  waiting_.clear();
  ready_count_ = 0;
  for (auto& [priority, level] : ready_) level.clear();
  table_.Clear();
  for (WorkItem& item : processing_) {
    item.place_ = WorkItem::Place::kNowhere;
    table_.Insert(item);
  }
}

void WorkQueue::UpdateMetrics(QueueMetrics& metrics, absl::Time now) {
  QueueCounts counts;
  QueueGauges gauges;
  {
    BriefMutexLock lock(mutex_);
    Drain(0);
    Promote(now);
    std::swap(counts, counts_);
    if (!shut_down_ && table_.size() == 0 && pool_.made() > kMaxRoom) GiveMemoryBack();
    for (const auto& [priority, level] : ready_) gauges.depth.emplace(priority, level.size());
    for (const WorkItem& item : processing_) {
      const absl::Duration took = now - absl::FromUnixNanos(item.started_);
      gauges.unfinished += took;
      gauges.longest = std::max(gauges.longest, took);
    }
  }
  metrics.Update(std::move(counts), gauges);
}

void WorkQueue::Drain(size_t reserved) {
  if (shut_down_) return;
  const size_t room = std::clamp(2 * brought_, kMinRoom, kMaxRoom);
  pool_.Reserve(room + reserved);
  const size_t free = pool_.free().size();
  TakeIn(std::min(room, free - std::min(free, reserved)));
}

void WorkQueue::TakeIn(size_t room) {
  inbox_.Take(drained_, room, pool_.free());
  brought_ = drained_.size();
  for (size_t i = 0; i < brought_; ++i) {
    if (i + 4 * kItemAhead < brought_) drained_[i + 4 * kItemAhead]->Prefetch();
    if (i + 4 * kSlotAhead < brought_) table_.Prefetch(drained_[i + 4 * kSlotAhead]->hash_);
    WorkItem* item = drained_[i];
    const absl::Time at = absl::FromUnixNanos(item->since_);
    const int priority = item->priority_;
    if (WorkItem* known = table_.Find(item->request_, item->hash_); known != nullptr) {
      pool_.free().push_back(std::exchange(item, known));
    } else {
      table_.Insert(*item);
    }
    Enqueue(*item, priority, at, at);
  }
  drained_.clear();
}

void WorkQueue::GiveMemoryBack() {
  TakeIn(0);
  if (!pool_.AllFree()) return;
  pool_.Clear();
  table_.Clear();
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
      if (ready_at >= item.later_->due.first) return;
      waiting_.erase(item.later_->due);
      break;
    case WorkItem::Place::kNowhere:
      item.priority_ = priority;
      break;
  }
  if (ready_at <= now) {
    MakeReady(item, now);
  } else {
    if (item.later_ == nullptr) item.later_ = std::make_unique<WorkItem::Later>();
    item.place_ = WorkItem::Place::kWaiting;
    item.later_->due = {ready_at, sequence_++};
    waiting_.emplace(item.later_->due, &item);
  }
}

void WorkQueue::MakeReady(WorkItem& item, absl::Time since) {
  item.place_ = WorkItem::Place::kReady;
  item.since_ = absl::ToUnixNanos(since);
  ++counts_.adds;
  if (item.processing_) return;  // Finish() will queue it
  ready_[item.priority_].push_back(item);
  ++ready_count_;
}

void WorkQueue::Promote(absl::Time now) {
  while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
    WorkItem& item = *waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    MakeReady(item, item.later_->due.first);
  }
}

void WorkQueue::Release(WorkItem& item) {
  table_.Erase(item);
  item.later_.reset();
  pool_.free().push_back(&item);
}

}  // namespace mandate
