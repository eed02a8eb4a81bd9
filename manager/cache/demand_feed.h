// One demand's way to its sink: every change once, in order, and nothing that it may not see.
#ifndef MANAGER_CACHE_DEMAND_FEED_H_
#define MANAGER_CACHE_DEMAND_FEED_H_

#include <atomic>
#include <memory>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/initial_events.h"
#include "manager/cache/store.h"
#include "manager/core/mutex.h"

namespace mandate {

// While attached it hands on what changes. Detached it remembers what the sink has seen, so that
// attaching again brings exactly the difference. The sink is called on the loop; Close() and
// status() are thread-safe, all else is for the loop's thread.
class DemandFeed {
 public:
  using Content = std::shared_ptr<const std::vector<ObjectPtr>>;

  explicit DemandFeed(std::shared_ptr<DemandSink> sink) : sink_(std::move(sink)) {}

  // Nothing is delivered any more.
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }
  DemandStatus status() const;

  // What differs from what the sink has seen, then `status`, then whatever is delivered.
  // `initial` is the store's.
  void Attach(const ObjectStore& store, InitialEvents& initial, const DemandStatus& status);
  void Deliver(const std::vector<ObjectEvent>& events);
  // `seen`: the store's content at this moment.
  void Detach(Content seen);
  bool attached() const { return attached_; }
  // While paused it does not attach. `seen` as for Detach().
  void Pause(Content seen);
  void EndPause() { paused_ = false; }

  // Tells the sink when it is another state.
  void SetStatus(const DemandStatus& status);

 private:
  const std::shared_ptr<DemandSink> sink_;  // may be null
  std::atomic<bool> closed_ = false;
  bool attached_ = false;
  bool paused_ = false;
  Content seen_;  // null: nothing
  mutable Mutex mutex_;
  DemandStatus status_ ABSL_GUARDED_BY(mutex_) = {DemandState::kPending,
                                                  absl::UnavailableError("not asked yet")};
};

}  // namespace mandate

#endif  // MANAGER_CACHE_DEMAND_FEED_H_
