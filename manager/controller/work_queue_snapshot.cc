// The state of a WorkQueue, for people.
#include <algorithm>

#include "manager/controller/work_queue.h"

namespace mandate {

QueueSnapshot WorkQueue::Snapshot(size_t most, absl::Time now) {
  using State = QueuedRequest::State;
  QueueSnapshot snapshot;
  AdaptiveMutexLock lock(mutex_);
  Promote(now);
  snapshot.in_progress = processing_.size();
  snapshot.ready = ready_count_;
  snapshot.delayed = waiting_.size();
  snapshot.failing = failing_;
  snapshot.requests.reserve(std::min(most, items_.size()));
  const auto add = [&](const WorkItem& item, State state, absl::Time time) {
    snapshot.requests.push_back({.request = item.request(),
                                 .state = state,
                                 .time = time,
                                 .priority = item.priority_,
                                 .failures = item.failures_});
  };
  const auto is_full = [&] { return snapshot.requests.size() >= most; };
  for (const WorkItem& item : processing_) {
    if (is_full()) break;
    add(item, State::kInProgress, absl::FromUnixNanos(item.started_));
    snapshot.requests.back().priority = item.handed_priority_;
    snapshot.requests.back().again = item.place_ != WorkItem::Place::kNowhere;
  }
  for (const auto& [priority, level] : ready_) {
    level.ForEachFirst([&](const WorkItem& item) {
      snapshot.oldest_ready = std::min(snapshot.oldest_ready, absl::FromUnixNanos(item.since_));
    });
    level.ForEach([&](const WorkItem& item) {
      if (is_full()) return false;
      add(item, State::kReady, absl::FromUnixNanos(item.since_));
      return true;
    });
  }
  for (const auto& [due, item] : waiting_) {
    if (is_full()) break;
    if (!item->processing_) add(*item, State::kDelayed, due.first);
  }
  snapshot.omitted = snapshot.requests.size() < items_.size();
  return snapshot;
}

}  // namespace mandate
