// The deadlines of the reviews of a component, with one timer of the loop for all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/core/mutex.h"

namespace mandate {

// A set of callbacks and their times. Removing one does not reset the timer, so that a review that
// is answered in time does not wake the loop: the timer fires early, and is set again. Thread-safe.
class ReviewDeadlines : public std::enable_shared_from_this<ReviewDeadlines> {
 public:
  using Key = std::pair<absl::Time, uint64_t>;

  // `loop` outlives this.
  static std::shared_ptr<ReviewDeadlines> Create(Loop& loop);

  // Runs `late` on the loop at `when`, unless it is removed before.
  Key Add(absl::Time when, std::function<void()> late);
  // `late` may still run during or after this call if its time has come.
  void Remove(const Key& key);

  // Cancels the timer, on the loop. Call it last.
  void Close();

 private:
  explicit ReviewDeadlines(Loop& loop) : loop_(loop) {}
  // On the loop: sets the timer to `armed_`.
  void Arm();
  void OnTimer();

  Loop& loop_;
  Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, std::function<void()>> pending_ ABSL_GUARDED_BY(mutex_);
  // When the timer runs, or will as soon as the loop has set it; never after the first deadline.
  absl::Time armed_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Loop::Timer> timer_;  // loop thread only
};

}  // namespace mandate
