// From events to requests: a controller's predicates, handlers and maps, and
// the passes over all objects.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/backlog.h"
#include "manager/controller/controller_metrics.h"
#include "manager/controller/source.h"
#include "manager/controller/work_queue.h"
#include "manager/controller/workers.h"
#include "manager/core/clock.h"
#include "manager/core/log.h"

namespace mandate {

// A mapper of events to requests. It takes events on any thread and runs the
// controller's code on them in slices, on the component's strand. Besides
// events it maps, on demand and at low priority, every object that the cache knows
// in a pass: after a source could not be read, or was paused, or after the work
// queue was full. A pass that meets a full queue waits for room where it stands.
class EventMapper {
 public:
  struct Options {
    std::vector<Source> sources;
    // These outlive this.
    CacheView* cache = nullptr;
    WorkQueue* queue = nullptr;
    Workers* workers = nullptr;
    const Clock* clock = nullptr;
    ControllerMetrics* metrics = nullptr;
    Logger log;
    size_t max_requests = 0;  // the queue's bound, for the log
    size_t max_events = 0;    // ControllerOptions::max_unmapped_events
  };

  explicit EventMapper(Options options);

  const std::vector<Source>& sources() const { return options_.sources; }

  // Any thread. True: there was nothing to do before, and RunSlice() must be
  // posted to the strand.
  [[nodiscard]] bool OnEvent(size_t source, const ObjectEvent& event);
  // The source's initial list is complete, or is not waited for; or the source is synced again.
  [[nodiscard]] bool OnListed(size_t source);
  // The cache no longer keeps these objects, because the component has lost its access. The first
  // pass after the source is synced again begins with what deletes of them would have requested: if
  // some were deleted meanwhile, no event reports it.
  [[nodiscard]] bool OnPurged(size_t source, Backlog::Purged objects);
  // Maps all objects, from the first one on.
  [[nodiscard]] bool Resync();
  // The work queue has room again: continues the pass that waits for it, or maps
  // all objects if the queue rejected requests of an event. To be called again
  // while refilling() is true.
  [[nodiscard]] bool OnQueueHasRoom();
  // Stops mapping once the present call of a handler has returned.
  void Close();

  // Any thread.
  bool IsFull() const { return backlog_.IsFull(); }
  bool HasCapacity() const { return backlog_.HasCapacity(); }
  size_t waiting() const { return backlog_.size(); }
  // Whether something is, or has to be, mapped.
  bool busy() const { return scheduled_; }
  // Whether RunSlice() runs.
  bool mapping() const { return mapping_; }
  // Whether the work queue has rejected requests that are not in it yet.
  bool refilling() const { return refilling_; }

  struct Slice {
    bool more = false;    // RunSlice() must be posted again
    bool listed = false;  // every initial list that is waited for has been mapped; once
  };
  // Maps for about a millisecond. On the strand.
  Slice RunSlice();

 private:
  // Whether the strand has to be woken.
  bool Wake() { return !scheduled_.exchange(true); }
  bool HasWork() const {
    return !backlog_.IsEmpty() || (resync_wanted_ && !pass_was_rejected_) ||
           (has_capacity_ && (missed_ || !held_.empty()));
  }

  // On the strand.
  bool RunOne(absl::Time& now, Slice& slice);  // false: there is nothing to do
  void Take(Backlog::Item item, absl::Time& now, Slice& slice);
  bool NextOfPass(size_t& source, ObjectEvent& event);
  void StartPass();
  void EndPass();
  // The requests of the event become requests_.
  void MapHere(size_t source, const ObjectEvent& event);
  // `now` is the time before, and then after.
  void Map(size_t source, const ObjectEvent& event, bool of_pass, absl::Time& now);
  // Of a pass, the requests that the queue rejects are held.
  void Enqueue(const std::vector<Request>& requests, int priority, bool of_pass, absl::Time now);
  void OnListedHere(size_t source, Slice& slice);

  const Options options_;
  Backlog backlog_;
  std::atomic<bool> refilling_ = false, mapping_ = false;
  // RunSlice() is posted, or runs. What is added before it is looked at is seen
  // by that slice.
  std::atomic<bool> scheduled_ = false;
  std::atomic<bool> closed_ = false, resync_wanted_ = false, has_capacity_ = false;

  // Of the strand.
  std::vector<Backlog::Item> taken_;  // from the backlog; before next_ they are done
  size_t next_ = 0;
  std::vector<Request> requests_;  // of one event; kept for its memory
  std::vector<bool> listed_;
  size_t unlisted_ = 0;
  // By source: what deletes of the purged objects would have requested.
  std::vector<absl::flat_hash_set<Request>> purged_;
  std::vector<Request> lost_;  // those of sources that are synced again: the next pass adds them
  bool wake_more_ = false;     // whether requests were added that the woken worker may
                               // be too few for
  bool missed_ = false;        // the queue rejected requests of an event: a pass is due
  bool in_pass_ = false;       // over all objects
  bool pass_was_rejected_ = false;  // it continues to its end; Resync() restarts any other pass
  std::vector<Request> held_;       // of the pass, rejected: they wait for room
  size_t pass_source_ = 0, pass_object_ = 0;
  std::vector<std::shared_ptr<const RawObject>> pass_objects_;
};

}  // namespace mandate
