// A controller: it maps events to requests, and reconciles requests. A ControllerBuilder
// (controller_builder.h) usually makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/controller_context.h"
#include "manager/controller/demand_set.h"
#include "manager/controller/reconciler.h"
#include "manager/controller/request_channel.h"
#include "manager/controller/source.h"
#include "manager/controller/work_queue.h"

namespace mandate {

struct ControllerOptions {
  // How many requests are reconciled in parallel.
  int max_concurrent_reconciles = 1;
  // The deadline of one reconciliation's context.
  absl::Duration reconcile_timeout = absl::InfiniteDuration();
  // A request beyond queue.max_items is rejected. When there is room, all objects are mapped again;
  // objects that were deleted meanwhile are not among them.
  WorkQueue::Options queue = {};
  // How many events may wait for the strand, because maps are slower than events come. Beyond it
  // the source is paused. When half of them are mapped, the source resumes with the latest state of
  // each object, and all objects are mapped again.
  size_t max_unmapped_events = 10'000;
  // How long the first list of a source may fail before workers start without it. Workers always
  // wait for the reconciled kind; not for one of its several namespaces that is forbidden. They
  // never wait for another source that is forbidden or whose
  // kind is absent.
  absl::Duration initial_sync_timeout = absl::Seconds(10);
  // The controller is ready although a source is forbidden, or larger than the memory that is left
  // for it, because it works without it, too.
  bool forbidden_sources_are_ready = false;
  // A replica that does not lead opens the watches, too, and maps their events. When it becomes the
  // leader, it reconciles at once, without a list. Each standby costs the API server as many
  // watches as the leader.
  bool warm_up = false;
};

// Workers start when the initial list of each source has been mapped. A source other than the
// reconciled kind holds them up only while its list runs, or fails for up to initial_sync_timeout:
// not while it is forbidden or its kind absent. Nor does one of several namespaces of the
// reconciled kind hold them up while it is forbidden. Reads of a source that is not synced are
// errors (cache_view.h), so that a reconciler cannot take unknown for absent. While a source cannot
// be read the controller is not ready, and it works on.
//
// Every change is reconciled after it happened. If a map may have missed a change (a source could
// not be read or was paused, or the queue was full), all objects of all sources are mapped again at
// low priority: that covers every request for an object of a source with EnqueueObject(). The same
// happens when a source becomes forbidden or its kind goes, so that each object's status reports
// it.
//
// Thread-safe.
class Controller {
 public:
  struct Options {
    std::string name;  // lower case; unique in the process
    ControllerContext controller_context;
    std::vector<Source> sources;
    std::unique_ptr<Reconciler> reconciler;
    ControllerOptions controller;
    std::shared_ptr<DemandSet> demands = nullptr;       // of this controller alone; null: none
    std::shared_ptr<RequestChannel> channel = nullptr;  // of this controller alone; null: none

    absl::Status Validate() const;  // kInvalidArgument names the option
  };

  // Errors: those of Validate().
  static absl::StatusOr<std::unique_ptr<Controller>> Create(Options options);
  // To be called after Stop(), or without Start().
  ~Controller();

  // Opens the demands and maps their events, but starts no workers: requests wait in the queue.
  // For a standby, before Start(); does not block. Later calls have no effect.
  void WarmUp();

  // Opens the demands that are not open, and starts workers. Once; does not block.
  void Start();

  // The first half of Stop(); does not wait. To stop several controllers within one deadline, call
  // it on all of them first.
  void RequestStop();

  // Starts no more reconciles, cancels the contexts of the running ones, and waits for them. Not to
  // be called on the loop, which must still run. kDeadlineExceeded: some still ran at `deadline`
  // (of Clock::TimeNow()), and the objects that they use must stay alive. Later calls do not wait
  // again.
  absl::Status Stop(absl::Time deadline);

  // OK if every source is synced and workers run; else the reasons.
  absl::Status Ready() const;

  // The state of its work queue, with at most `most_requests` requests.
  QueueSnapshot Queue(size_t most_requests) const;

  const std::string& name() const;
  const std::string& component() const;
  int max_concurrent_reconciles() const;
  bool warms_up() const;  // ControllerOptions::warm_up

 private:
  class Core;
  explicit Controller(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;  // shared with tasks on the loop and the pool
};

}  // namespace mandate
