#include "manager/core/timer_queue.h"

namespace mandate {

class TimerQueue::Entry : public Loop::Timer {
 public:
  Entry(std::weak_ptr<TimerQueue> queue, Key key) : queue_(std::move(queue)), key_(key) {}
  ~Entry() override {
    // The task is destroyed after the map is consistent again, because it may own this timer's
    // owner.
    if (const auto queue = queue_.lock()) {
      const auto node = queue->timers_.extract(key_);
    }
  }

 private:
  const std::weak_ptr<TimerQueue> queue_;
  const Key key_;
};

std::unique_ptr<Loop::Timer> TimerQueue::Add(absl::Time when, Loop::Task task) {
  const Key key{when, next_id_++};
  timers_.emplace(key, std::move(task));
  return std::make_unique<Entry>(weak_from_this(), key);
}

size_t TimerQueue::RunDue(absl::Time now) {
  const uint64_t newer = next_id_;
  size_t count = 0;
  auto it = timers_.begin();
  while (it != timers_.end() && it->first.first <= now) {
    const Key key = it->first;
    if (key.second < newer) {
      auto node = timers_.extract(it);
      std::move(node.mapped())();
      ++count;
    }
    // The next timer is found by its key, because the task may have added and removed any timer.
    it = timers_.upper_bound(key);
  }
  return count;
}

absl::Time TimerQueue::next() const {
  return timers_.empty() ? absl::InfiniteFuture() : timers_.begin()->first.first;
}

void TimerQueue::Clear() {
  while (!timers_.empty()) {
    const auto node = timers_.extract(timers_.begin());
  }
}

}  // namespace mandate
