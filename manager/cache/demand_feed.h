// The events of one demand for its sink: every change once, in order, and only while reads are
// allowed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/cache/store.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"

namespace mandate {

// A call of a demand's handle.
struct DemandChange {
  enum Call { kLeave, kPause, kResume, kAddFlow };

  Call call;
  std::string flow = {};  // kAddFlow
};

// A cursor over a store. Objects after the cursor have not been delivered yet: they are delivered
// in slices, in the order of keys, one slice a turn of the loop. A change before the cursor is
// delivered at once; a change after it is found when the cursor gets there. So no change waits in a
// queue, and each object's changes keep their order.
//
//   state         on                      then
//   detached      Attach()                catching up, from what the sink has seen
//   catching up   the end of the store    attached; the waiting state is delivered
//   attached      CatchUp()               catching up, from what the store held before
//   either        Detach(), Pause()       detached; remembers the content that the sink has seen
//   any           Purge()                 detached; OnPurged() reports the content it had seen
//
// Held by shared_ptr. The sink is called on the loop; Close() and status() are thread-safe, all
// else is for the loop's thread.
class DemandFeed : public std::enable_shared_from_this<DemandFeed> {
 public:
  using Content = std::shared_ptr<const ObjectSet>;

  // The feeds of one store share it.
  struct Source {
    Loop& loop;  // outlives the feeds
    std::shared_ptr<const ObjectStore> store;
    size_t slice;  // how many objects a turn looks at, at most
    prometheus::Counter& slices;
  };

  explicit DemandFeed(std::shared_ptr<DemandSink> sink) : sink_(std::move(sink)) {}

  bool has_sink() const { return sink_ != nullptr; }
  // Of its sink; the component's own flow if it has none.
  std::set<std::string> Flows() const {
    return sink_ == nullptr ? std::set<std::string>{""} : sink_->Flows();
  }

  // Ends the delivery.
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }
  DemandStatus status() const;

  // Delivers the difference to the content that the sink has seen, then `status`. The first slice
  // is delivered inside the call.
  void Attach(const std::shared_ptr<const Source>& source, const DemandStatus& status);
  bool attached() const { return source_ != nullptr; }
  // Changes of the store.
  void Deliver(const std::vector<ObjectEvent>& events);
  // The store has changed in too many places to deliver each; `before` is its former content.
  void CatchUp(const Content& before);
  // `held`: the content of the store at this moment.
  void Detach(const Content& held);
  // After a loss of access: no content is remembered. `held` as for Detach().
  void Purge(const Content& held);
  // While paused it does not attach. `held` as for Detach().
  void Pause(const Content& held);
  void Resume() { paused_ = false; }

  // Delivers the status if its state or the code of its reason has changed. Delivers kSynced only
  // when the feed has caught up.
  void SetStatus(const DemandStatus& status);

 private:
  // The content that the sink knows, if it knows `held` up to the cursor.
  Content DeliveredContent(const Content& held) const;
  void DeliverSlices();
  // Delivers the next slice; false: it was the last one.
  bool DeliverSlice();
  void DeliverLater();
  void DeliverEvent(const ObjectEvent& event);
  void DeliverStatus(const DemandStatus& status);

  const std::shared_ptr<DemandSink> sink_;  // may be null
  std::atomic<bool> closed_ = false;
  std::shared_ptr<const Source> source_;  // null: detached
  bool paused_ = false;
  bool catching_up_ = false;
  bool turn_is_due_ = false;
  bool complete_once_ = false;           // later adds are not initial
  Content seen_;                         // after the cursor; null: nothing
  ObjectPtr cursor_;                     // the last visited object; null: none yet
  std::optional<DemandStatus> waiting_;  // kSynced, to be delivered at the end
  mutable Mutex mutex_;
  DemandStatus status_ ABSL_GUARDED_BY(mutex_) = {
      DemandState::kPending, absl::UnavailableError("no request was sent yet")};
};

}  // namespace mandate
