// The timers of one loop, by time and then in the order in which they were set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/executor.h"

namespace mandate {

// Loop thread only. Held by shared_ptr, since the timers it gives out may outlive it.
class TimerQueue : public std::enable_shared_from_this<TimerQueue> {
 public:
  [[nodiscard]] std::unique_ptr<Loop::Timer> Add(absl::Time when, Loop::Task task);

  // Runs the timers that are due at `now`, except those that are set meanwhile. Returns how many
  // ran.
  size_t RunDue(absl::Time now);

  // Infinite future: none is set.
  absl::Time next() const;
  size_t size() const { return timers_.size(); }
  // Destroys the tasks, also those that their destructors add.
  void Clear();

 private:
  class Entry;
  using Key = std::pair<absl::Time, uint64_t>;

  std::map<Key, Loop::Task> timers_;
  uint64_t next_id_ = 0;
};

}  // namespace mandate
