// What was added to a work queue and is not sorted into it yet.
//
// Who adds and who takes run on different cores, and a line of memory that both write costs more to
// hand over than all else they do. So the queue proper is left to the takers, and what is added
// crosses over to them many requests at a time.
#ifndef MANAGER_CONTROLLER_INBOX_H_
#define MANAGER_CONTROLLER_INBOX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "manager/controller/request.h"
#include "manager/controller/work_item.h"
#include "manager/core/brief_mutex.h"

namespace mandate {

// Takes as many requests as it was given items for; those stay whose they were. Thread-safe.
class Inbox {
 public:
  // Below every priority.
  static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::min();

  // False: there is no room.
  bool Push(const Request& request, uint32_t hash, int priority, absl::Time at) {
    const int64_t since = absl::ToUnixNanos(at);
    BriefMutexLock lock(mutex_);
    if (spare_.empty()) return false;
    WorkItem& item = *spare_.back();
    spare_.pop_back();
    if (spare_.size() >= kAhead) spare_[spare_.size() - kAhead]->Prefetch();
    item.request_ = request;
    item.hash_ = hash;
    item.priority_ = priority;
    item.since_ = since;
    filled_.push_back(&item);
    if (priority > top_.load(std::memory_order_relaxed)) top_ = priority;
    return true;
  }

  // The highest priority of what is in it; kEmpty: nothing is.
  int64_t top() const { return top_; }

  // Moves what is in it to `taken`, which is empty, oldest first, and makes sure that it has room
  // for `room` more, from the end of `spare`, which has as many. Without any, all that it has left
  // goes there.
  void Take(std::vector<WorkItem*>& taken, size_t room, std::vector<WorkItem*>& spare) {
    BriefMutexLock lock(mutex_);
    taken.swap(filled_);
    top_ = kEmpty;
    if (room == 0) {
      Move(spare_, spare_.size(), spare);
    } else if (spare_.size() < room) {
      Move(spare, room - spare_.size(), spare_);
    }
  }

 private:
  // How many items ahead memory is fetched: takers wrote to it last.
  static constexpr size_t kAhead = 8;

  static void Move(std::vector<WorkItem*>& from, size_t count, std::vector<WorkItem*>& to) {
    to.insert(to.end(), from.end() - static_cast<std::ptrdiff_t>(count), from.end());
    from.resize(from.size() - count);
  }

  BriefMutex mutex_;
  std::vector<WorkItem*> filled_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkItem*> spare_ ABSL_GUARDED_BY(mutex_);
  // Written with the lock. On a line of its own, since takers look at it all the time.
  alignas(64) std::atomic<int64_t> top_ = kEmpty;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_INBOX_H_
