// A controller: events become requests, requests are reconciled until the world is as it should be.
// Usually made by a ControllerBuilder (builder.h).
#ifndef MANAGER_CONTROLLER_CONTROLLER_H_
#define MANAGER_CONTROLLER_CONTROLLER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/reconciler.h"
#include "manager/controller/source.h"
#include "manager/controller/work_queue.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/strand.h"

namespace mandate {

// What a component's controllers run on. All outlive the controllers.
struct ControllerRuntime {
  std::string component;  // whose identity `cache` reads with; the identity of metrics and logs
  Loop& loop;
  // Where reconcilers run, and what the strand runs on. A reconciler that blocks keeps a thread:
  // with no more threads than the sum of max_concurrent_reconciles, stuck reconcilers hold up all
  // else that runs there. The Manager gives each component a pool of its own, with one thread more.
  Executor& pool;
  CacheView& cache;
  Metrics& metrics;
  Logger log;
  uint64_t seed = 0;  // of reconcile IDs
  // Where predicates, handlers and maps run, of all controllers of the component; null: the
  // controller makes one of its own on the pool.
  std::shared_ptr<Strand> strand = nullptr;
};

struct ControllerOptions {
  // Requests that are reconciled at once; of one request never more than one.
  int max_concurrent_reconciles = 1;
  // The deadline of one reconciliation's context.
  absl::Duration reconcile_timeout = absl::InfiniteDuration();
  // Beyond queue.max_items requests are refused, and queued when there is room by going through all
  // objects again, part by part; those that were deleted meanwhile are not among them.
  WorkQueue::Options queue = {};
  // News that wait for the strand, because maps are slower than they come. Beyond it the source is
  // paused; what changed meanwhile comes when half of them are mapped, the latest state of each
  // object, and all objects are mapped again.
  size_t max_waiting_events = 10'000;
  // For how long the first list of a source may fail before workers start without it. Not of the
  // kind that is reconciled, which is waited for; one that the component may not read, or whose
  // kind is absent, is not waited for at all.
  absl::Duration first_list_patience = absl::Seconds(10);
};

// Nothing here ends the process. Workers start when the initial list of each source has been
// mapped, but a source other than the reconciled kind holds them up only while its list is under
// way: not while it is forbidden or its kind absent, and while it fails only for
// first_list_patience. Reads of what is not synced are errors (cache.h), so that a reconciler
// cannot take unknown for absent. A source that cannot be read, from the start or later, makes the
// controller not ready, and it works on.
//
// Every change is reconciled after it happened. Where a map may have missed one (a source that
// could not be read, one that was paused, a full queue), all objects of all sources are mapped
// again, at low priority: that covers every request for an object of a source that is handled by
// EnqueueObject(). The same happens when a source is forbidden, or its kind goes, so that what is
// reported of each object tells.
//
// Thread-safe.
class Controller {
 public:
  struct Options {
    std::string name;  // lower case; unique in the process
    ControllerRuntime runtime;
    std::vector<Source> sources;
    std::unique_ptr<Reconciler> reconciler;
    ControllerOptions controller;

    absl::Status Validate() const;  // kInvalidArgument says what is wrong
  };

  // Errors: those of Validate().
  static absl::StatusOr<std::unique_ptr<Controller>> Create(Options options);
  // After Stop(), or without Start().
  ~Controller();

  // Opens the demands. Once; does not block.
  void Start();

  // The first half of Stop(), which does not wait: to stop several controllers within one deadline,
  // ask all of them first.
  void RequestStop();

  // Takes no more work, cancels the contexts of what runs, and waits for it; not on the loop, which
  // must still run. kDeadlineExceeded: at `deadline` (of Clock::TimeNow()) some still ran; what
  // they use must then stay alive. Later calls do not wait again.
  absl::Status Stop(absl::Time deadline);

  // OK once every source is live and workers run; else why not.
  absl::Status Ready() const;

  // What is wrong and keeps it from nothing but a part of its work: objects that cannot be read, of
  // which one is named for each source. Empty: nothing.
  std::string Warning() const;

  const std::string& name() const;
  const std::string& component() const;
  int max_concurrent_reconciles() const;

 private:
  class Core;
  explicit Controller(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;  // shared with what waits on the loop and the pool
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_CONTROLLER_H_
