// Private to controller.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/controller.h"
#include "manager/controller/controller_metrics.h"
#include "manager/controller/demand_set.h"
#include "manager/controller/event_mapper.h"
#include "manager/controller/queue_metrics.h"
#include "manager/controller/reconcile_runner.h"
#include "manager/controller/workers.h"

namespace mandate {

// The state of a controller. It lives on the loop, except for the members that the mutex guards or
// that are thread-safe: the mapper runs on the strand, the workers on the pool.
class Controller::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Options options)
      : name(options.name),
        context_(WithStrand(std::move(options.controller_context))),
        options_(options.controller),
        log_(context_.log.With("component", context_.component).With("controller", name)),
        metrics_(context_.metrics, name, context_.component),
        queue_metrics_(context_.metrics, name, context_.component),
        queue_(options_.queue),
        runner_({.reconciler = std::move(options.reconciler),
                 .timeout = options_.reconcile_timeout,
                 .clock = &clock(),
                 .metrics = &metrics_,
                 .log = log_,
                 .seed = context_.seed ^ std::hash<std::string>()(name),
                 .component = context_.component,
                 .controller = name,
                 .tracer = context_.tracer}),
        workers_({.max = options_.max_concurrent_reconciles,
                  .queue = &queue_,
                  .runner = &runner_,
                  .pool = &context_.pool,
                  .clock = &clock(),
                  .on_requeue = [this] { OnRequeue(); }}),
        mapper_({.sources = std::move(options.sources),
                 .cache = &context_.cache,
                 .queue = &queue_,
                 .workers = &workers_,
                 .clock = &clock(),
                 .metrics = &metrics_,
                 .log = log_,
                 .max_requests = options_.queue.max_items,
                 .max_events = options_.max_unmapped_events}),
        demands_(std::move(options.demands)),
        watched_(mapper_.sources().size()) {
    metrics_.max_concurrent.Set(options_.max_concurrent_reconciles);
    queue_.UpdateMetrics(queue_metrics_, Now());
  }

  const std::string& component() const { return context_.component; }
  int max_concurrent() const { return options_.max_concurrent_reconciles; }
  bool warms_up() const { return options_.warm_up; }

  // Any thread.
  void WarmUp() {
    context_.loop.Post([core = shared_from_this()] { core->WarmUpOnLoop(); });
  }
  void Start() {
    context_.loop.Post([core = shared_from_this()] { core->StartOnLoop(); });
  }
  // Adds a request that no event causes. False if the queue is full, or the controller stopped.
  bool Enqueue(const Request& request, int priority) {
    if (phase_ == Phase::kStopped || !queue_.Add(request, {.priority = priority}, Now())) {
      return false;
    }
    PostToLoop(&Core::OnEnqueued);
    return true;
  }
  void RequestStop() {
    mapper_.Close();
    workers_.RequestStop();
  }
  absl::Status Stop(absl::Time deadline);
  absl::Status Ready() const;
  QueueSnapshot Queue(size_t most_requests) { return queue_.Snapshot(most_requests, Now()); }

  const std::string name;

 private:
  // kWarm: as kWaiting, but workers do not start.
  enum class Phase { kIdle, kWarm, kWaiting, kRunning, kStopped };

  // A source, as the loop sees it.
  struct Watched {
    std::unique_ptr<DemandHandle> handle;  // changed under the mutex
    DemandStatus status;
    bool listed = false;  // its initial list has come, once; changed under the mutex
    // Workers started without its initial list.
    bool given_up = false;
    std::unique_ptr<Loop::Timer> timeout;  // its first list fails
    std::unique_ptr<Loop::Timer> late;     // its first list was logged as failed
    bool denied = false;  // since it was last synced, it was forbidden or its kind absent
    // Since it was last synced, not even its last known objects could be read: maps may have missed
    // them.
    bool unreadable = false;
    bool paused = false;
    // Of a primary source: the objects that were purged since it was last synced.
    std::vector<DemandOwner> purged;
    // The reasons logged during this state: they may alternate at each retry.
    std::set<absl::StatusCode> logged;
  };

  // The cache calls it, and may keep it for longer than the controller lives.
  class Sink : public DemandSink {
   public:
    Sink(std::weak_ptr<Core> core, size_t source) : core_(std::move(core)), source_(source) {}
    void OnEvent(const ObjectEvent& event) override {
      if (auto core = core_.lock()) core->OnEvent(source_, event);
    }
    void OnPurged(const Backlog::Purged& objects) override {
      if (auto core = core_.lock()) core->OnPurged(source_, objects);
    }
    void OnState(const DemandStatus& status) override {
      if (auto core = core_.lock()) core->OnState(source_, status);
    }

   private:
    const std::weak_ptr<Core> core_;
    const size_t source_;
  };

  static ControllerContext WithStrand(ControllerContext controller_context) {
    if (controller_context.strand == nullptr) {
      controller_context.strand = std::make_shared<Strand>(
          Strand::Options{controller_context.pool, controller_context.loop.clock()});
    }
    return controller_context;
  }
  const Clock& clock() const { return context_.loop.clock(); }
  absl::Time Now() const { return clock().TimeNow(); }

  // On the loop.
  void WarmUpOnLoop();
  void StartOnLoop();
  void OpenSources();
  void StopOnLoop(absl::Time deadline);
  void StartWorkers();
  void OnEvent(size_t source, const ObjectEvent& event);
  void OnPurged(size_t source, const Backlog::Purged& objects);
  // Releases the demands of purged objects that no longer exist.
  void ReleasePurged(size_t source);
  void OnDemanded(const std::vector<Request>& requests);
  void OnEnqueued() {
    ArmMetricsTimer();
    workers_.WakeAsNeeded();
  }
  void OnState(size_t source, const DemandStatus& status);
  void OnSynced(size_t source, bool again);
  void OnUnsynced(size_t source);
  void LogUnsynced(size_t source);
  // Whether workers wait for the source without a limit.
  bool IsAwaited(size_t source) const;
  // Workers start without the source.
  void GiveUp(size_t source);
  // Whether the objects that a resync would reconcile are known.
  bool KnowsReconciled() const;
  void ResumeSources();
  void ResyncSoon();
  bool AllSynced() const {
    return std::all_of(watched_.begin(), watched_.end(), [](const Watched& watched) {
      return watched.status.state == DemandState::kSynced;
    });
  }
  void ArmRetryTimer();
  void ArmMetricsTimer();
  void OnMetricsTimer();

  // On the strand: maps some of the waiting events.
  void MapSlice();

  // Any thread.
  void MapSoon() {
    context_.strand->Post([weak = weak_from_this()] {
      if (auto core = weak.lock()) core->MapSlice();
    });
  }
  void PostToLoop(void (Core::*what)()) {
    context_.loop.Post([core = shared_from_this(), what] { (*core.*what)(); });
  }
  void OnRequeue() { PostToLoop(&Core::ArmRetryTimer); }

  const ControllerContext context_;
  const ControllerOptions options_;
  const Logger log_;
  ControllerMetrics metrics_;
  QueueMetrics queue_metrics_;
  WorkQueue queue_;
  ReconcileRunner runner_;
  Workers workers_;
  EventMapper mapper_;
  Latch cleaned_;  // the loop has no task of this controller
  Latch mapped_;   // the strand has no task of this controller, or the time to stop is over
  std::atomic<int> paused_ = 0;

  const std::shared_ptr<DemandSet> demands_;  // may be null
  std::vector<Watched> watched_;              // by source
  std::unique_ptr<Loop::Timer> retry_timer_, resync_timer_, metrics_timer_, deadline_timer_;
  absl::Time retry_timer_at_ = absl::InfiniteFuture();

  mutable Mutex mutex_;  // the loop's thread reads its own writes without it
  std::atomic<Phase> phase_ = Phase::kIdle;
  std::atomic<bool> mapped_lists_ = false;  // every initial list that is waited for
};

}  // namespace mandate
