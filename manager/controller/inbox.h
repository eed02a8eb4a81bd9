// What was added to a work queue and is not sorted into it yet.
//
// Who adds and who takes run on different cores, and a line of memory that both write costs more to
// hand over than all else they do. So the queue proper is left to the takers, and what is added
// crosses over to them many requests at a time.
#ifndef MANAGER_CONTROLLER_INBOX_H_
#define MANAGER_CONTROLLER_INBOX_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "manager/controller/request.h"
#include "manager/core/mutex.h"

namespace mandate {

// Thread-safe.
class Inbox {
 public:
  struct Entry {
    Request request;
    size_t hash = 0;
    int priority = 0;
    absl::Time at;
  };
  // An entry's memory, and its strings', is used again.
  struct Entries {
    std::vector<Entry> entries;
    size_t count = 0;  // those that count; behind them is spare memory
  };

  static constexpr size_t kMaxEntries = 4096;
  // Below every priority.
  static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::min();

  // Takes at most `room` entries, and kMaxEntries, before the first Take().
  explicit Inbox(size_t room) : room_(std::min(room, kMaxEntries)) {}

  // False: there is no room.
  bool Push(const Request& request, size_t hash, int priority, absl::Time at) {
    MutexLock lock(mutex_);
    if (filled_.count >= room_) return false;
    if (filled_.count == filled_.entries.size()) filled_.entries.emplace_back();
    Entry& entry = filled_.entries[filled_.count++];
    entry.request = request;
    entry.hash = hash;
    entry.priority = priority;
    entry.at = at;
    if (priority > top_.load(std::memory_order_relaxed)) top_ = priority;
    return true;
  }

  // The highest priority of what is in it; kEmpty: nothing is.
  int64_t top() const { return top_; }

  // Exchanges what is in it, oldest first, for spare memory. From now on it takes `room` less what
  // it had, and no more than kMaxEntries; returned is how many that is.
  size_t Take(Entries& entries, size_t room) {
    MutexLock lock(mutex_);
    std::swap(entries, filled_);
    filled_.count = 0;
    top_ = kEmpty;
    room_ = std::min(room - std::min(room, entries.count), kMaxEntries);
    return room_;
  }

 private:
  Mutex mutex_;
  Entries filled_ ABSL_GUARDED_BY(mutex_);
  size_t room_ ABSL_GUARDED_BY(mutex_);
  // Written with the lock. On a line of its own, since takers look at it all the time.
  alignas(64) std::atomic<int64_t> top_ = kEmpty;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_INBOX_H_
