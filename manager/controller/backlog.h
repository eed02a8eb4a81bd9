// The events that a controller has received and not mapped yet.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/core/mutex.h"

namespace mandate {

// A queue of events between the loop, which receives them, and the strand, which runs handlers. It
// drops nothing: while it is full, the caller of Push() pauses its source. Events of an initial
// list do not count: they are as many as the objects, and only refer to objects of the cache.
// Thread-safe.
class Backlog {
 public:
  // The objects of a source that the cache no longer keeps (DemandSink::OnPurged()).
  using Purged = std::vector<std::shared_ptr<const RawObject>>;
  // All objects of a source are listed: for the first time, or after an interruption.
  struct Listed {};

  struct Item {
    size_t source = 0;  // index among the controller's
    std::variant<Listed, ObjectEvent, Purged> what;
  };

  explicit Backlog(size_t max_events) : max_events_(max_events) {}

  void Push(Item item) {
    MutexLock lock(mutex_);
    if (Counts(item)) ++counted_;
    items_.push_back(std::move(item));
  }

  // Moves the oldest items, at most `most`, to `items`, which must be empty.
  void Take(size_t most, std::vector<Item>& items) {
    MutexLock lock(mutex_);
    while (items.size() < most && !items_.empty()) {
      if (Counts(items_.front())) --counted_;
      items.push_back(std::move(items_.front()));
      items_.pop_front();
    }
  }

  void Clear() {
    std::deque<Item> dropped;
    MutexLock lock(mutex_);
    counted_ = 0;
    dropped.swap(items_);
  }

  bool IsEmpty() const {
    MutexLock lock(mutex_);
    return items_.empty();
  }
  size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }
  // Full at max_events; a pause may end at half of it (HasCapacity).
  bool IsFull() const {
    MutexLock lock(mutex_);
    return counted_ >= max_events_;
  }
  bool HasCapacity() const {
    MutexLock lock(mutex_);
    return counted_ <= max_events_ / 2;
  }

 private:
  static bool Counts(const Item& item) {
    const auto* event = std::get_if<ObjectEvent>(&item.what);
    return event != nullptr && !event->initial;
  }

  const size_t max_events_;
  mutable Mutex mutex_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  size_t counted_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mandate
