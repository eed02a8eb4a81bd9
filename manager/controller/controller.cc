#include "manager/controller/controller.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "manager/controller/controller_metrics.h"
#include "manager/controller/queue_metrics.h"
#include "manager/controller/readiness.h"
#include "manager/controller/reconcile_runner.h"
#include "manager/controller/refill.h"
#include "manager/controller/workers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// How often gauges and counts of a queue that is in use are brought up to date.
constexpr absl::Duration kMetricsPeriod = absl::Milliseconds(500);
// For how long a worker from whom the others have left may be stuck before one comes back.
constexpr absl::Duration kReliefPeriod = absl::Milliseconds(10);
// How long a replay waits for the other sources that are not readable: after an outage they return
// one after the other, and one replay then does for all.
constexpr absl::Duration kReplaySettle = absl::Seconds(1);

bool IsResync(const ObjectEvent& event) {
  return event.type == ObjectEvent::Type::kUpdate && event.old != nullptr &&
         event.old->resource_version() == event.object->resource_version();
}

}  // namespace

// Lives on the loop, but for what the mutex guards and what is thread-safe by itself.
class Controller::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Options options)
      : name(options.name),
        runtime_(options.runtime),
        options_(options.controller),
        log_(runtime_.log.With("component", runtime_.component).With("controller", name)),
        metrics_(runtime_.metrics, name, runtime_.component),
        queue_metrics_(runtime_.metrics, name, runtime_.component),
        queue_(options_.queue),
        runner_({.reconciler = std::move(options.reconciler),
                 .timeout = options_.reconcile_timeout,
                 .clock = &runtime_.loop.clock(),
                 .metrics = &metrics_,
                 .log = log_,
                 .seed = runtime_.seed ^ std::hash<std::string>()(name)}),
        workers_({.max = options_.max_concurrent_reconciles,
                  .queue = &queue_,
                  .runner = &runner_,
                  .pool = &runtime_.pool,
                  .clock = &runtime_.loop.clock(),
                  .on_requeue = [this] { OnRequeue(); },
                  .on_left = [this] { OnWorkerLeft(); }}) {
    for (Source& source : options.sources) sources_.push_back({std::move(source), {}, {}, {}});
    metrics_.max_concurrent.Set(options_.max_concurrent_reconciles);
    queue_.UpdateMetrics(queue_metrics_, Now());
    UpdateReady();
  }

  const std::string& component() const { return runtime_.component; }

  // Any thread.
  void Start() {
    runtime_.loop.Post([core = shared_from_this()] { core->StartOnLoop(); });
  }
  void RequestStop() { workers_.RequestStop(); }
  absl::Status Stop(absl::Time deadline);
  absl::Status Ready() const {
    MutexLock lock(mutex_);
    return ready_;
  }

  const std::string name;

 private:
  enum class Phase { kIdle, kWaiting, kRunning, kStopped };

  struct Watched {
    Source source;
    std::unique_ptr<DemandHandle> handle;
    DemandStatus status;
    bool delivered = false;  // its initial list, once
    // Since it was last live, maps may have looked for its objects in vain: not even the last known
    // ones could be read.
    bool unreadable = false;
  };

  // What the cache calls; outlives the controller if the cache keeps it.
  class Sink : public DemandSink {
   public:
    Sink(std::weak_ptr<Core> core, size_t source) : core_(std::move(core)), source_(source) {}
    void OnEvent(const ObjectEvent& event) override {
      if (auto core = core_.lock()) core->OnEvent(core->sources_[source_], event);
    }
    void OnState(const DemandStatus& status) override {
      if (auto core = core_.lock()) core->OnState(core->sources_[source_], status);
    }

   private:
    const std::weak_ptr<Core> core_;
    const size_t source_;
  };

  absl::Time Now() const { return runtime_.loop.clock().TimeNow(); }

  // On the loop.
  void StartOnLoop();
  void StopOnLoop(absl::Time deadline);
  void OpenDemands();
  void OnEvent(const Watched& watched, const ObjectEvent& event);
  void OnState(Watched& watched, const DemandStatus& status);
  absl::Status Handle(const Source& source, const ObjectEvent& event);
  bool AllSynced() const {
    return std::all_of(sources_.begin(), sources_.end(), [](const Watched& watched) {
      return watched.status.state == DemandState::kSynced;
    });
  }
  void UpdateReady();
  void ReplaySoon();
  void Replay();
  void ArmRetryTimer();
  void ArmReliefTimer();
  void ArmMetricsTimer();
  void OnMetricsTimer();

  // Sees to it that what was just added is worked on: at once if nobody works, else after this turn
  // of the loop, where one look is enough for all that is added in it.
  void PumpSoon();

  // Any thread.
  void OnRequeue() {
    runtime_.loop.Post([core = shared_from_this()] { core->ArmRetryTimer(); });
  }
  void OnWorkerLeft() {
    runtime_.loop.Post([core = shared_from_this()] { core->ArmReliefTimer(); });
  }

  const ControllerRuntime runtime_;
  const ControllerOptions options_;
  const Logger log_;
  ControllerMetrics metrics_;
  QueueMetrics queue_metrics_;
  WorkQueue queue_;
  ReconcileRunner runner_;
  Workers workers_;
  Latch cleaned_;  // the loop holds nothing of ours

  Phase phase_ = Phase::kIdle;
  std::vector<Watched> sources_;
  std::vector<Request> requests_;  // of one event; kept for its memory
  Refill refill_;
  bool pump_posted_ = false;
  absl::Time retry_timer_at_ = absl::InfiniteFuture();
  std::unique_ptr<Loop::Timer> retry_timer_, relief_timer_, replay_timer_, metrics_timer_,
      deadline_timer_;

  mutable Mutex mutex_;
  absl::Status ready_ ABSL_GUARDED_BY(mutex_);
};

void Controller::Core::StartOnLoop() {
  if (phase_ != Phase::kIdle) return;
  phase_ = Phase::kWaiting;
  log_.Info("Starting controller", {{"sources", sources_.size()}});
  OpenDemands();
  UpdateReady();
}

void Controller::Core::OpenDemands() {
  for (size_t i = 0; i < sources_.size(); ++i) {
    // The old handle is given back after the new one is there: the watch stays open.
    sources_[i].status = DemandStatus();
    sources_[i].handle = runtime_.cache.Demand(sources_[i].source.demand,
                                               std::make_shared<Sink>(weak_from_this(), i));
  }
}

void Controller::Core::OnEvent(const Watched& watched, const ObjectEvent& event) {
  if (phase_ == Phase::kStopped) return;
  requests_.clear();
  if (absl::Status status = Handle(watched.source, event); !status.ok()) {
    metrics_.event_errors.Increment();
    log_.Error("Cannot tell what to reconcile because of an object",
               {{"source", watched.source.demand.ToString()},
                {"namespace", event.object->ns()},
                {"name", event.object->name()},
                {"error", status}});
  }
  if (requests_.empty()) return;
  const int priority = event.initial || IsResync(event) ? kLowPriority : kDefaultPriority;
  const absl::Time now = Now();
  for (const Request& request : requests_) {
    if (event.initial && !refill_.Wants(request)) continue;
    if (queue_.Add(request, {.priority = priority}, now)) continue;
    if (!refill_.active()) {
      log_.Error("Work queue is full; what it refuses will be queued when there is room",
                 {{"limit", options_.queue.max_items}});
    }
    refill_.OnRefused();
    UpdateReady();
  }
  ArmMetricsTimer();
  PumpSoon();
}

absl::Status Controller::Core::Handle(const Source& source, const ObjectEvent& event) {
  std::string what = "an exception of unknown type";
  try {
    for (const Predicate& predicate : source.predicates) {
      if (!predicate(event)) return absl::OkStatus();
    }
    return source.handler(event, requests_);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  return absl::InternalError(AsAbsl(StrCat("a predicate or handler threw: ", what)));
}

void Controller::Core::OnState(Watched& watched, const DemandStatus& status) {
  if (phase_ == Phase::kStopped) return;
  const DemandStatus before = std::exchange(watched.status, status);
  const std::string source = watched.source.demand.ToString();
  if (watched.delivered && status.state != DemandState::kSynced &&
      status.state != DemandState::kStale) {
    watched.unreadable = true;
  }
  if (status.state == DemandState::kSynced) {
    if (watched.delivered && before.state != DemandState::kSynced) {
      log_.Info("Source is live again", {{"source", source}});
      // What failed for want of it need not wait for its turn.
      queue_.RetryNow(Now());
      ArmMetricsTimer();
      workers_.Pump();
    }
    watched.delivered = true;
    if (std::exchange(watched.unreadable, false)) ReplaySoon();
  } else if (status.state != DemandState::kPending &&
             (status.state != before.state || status.reason != before.reason)) {
    log_.Error(watched.delivered ? "Source was lost" : "Source is waited for",
               {{"source", source}, {"error", status.reason}});
  }
  if (phase_ == Phase::kWaiting &&
      std::all_of(sources_.begin(), sources_.end(), [](const auto& w) { return w.delivered; })) {
    phase_ = Phase::kRunning;
    log_.Info("Starting workers", {{"workers", options_.max_concurrent_reconciles}});
    ArmRetryTimer();
    workers_.Start(weak_from_this());
  }
  UpdateReady();
}

void Controller::Core::UpdateReady() {
  Readiness readiness(StrCat("controller ", name, " of component ", runtime_.component));
  if (phase_ == Phase::kIdle) readiness.Add(absl::StatusCode::kUnavailable, "not started");
  if (phase_ == Phase::kStopped) readiness.Add(absl::StatusCode::kUnavailable, "stopped");
  if (phase_ == Phase::kWaiting || phase_ == Phase::kRunning) {
    for (const Watched& watched : sources_) {
      readiness.AddSource(watched.source.demand.ToString(), watched.status, watched.delivered);
    }
  }
  if (refill_.active()) {
    readiness.Add(absl::StatusCode::kResourceExhausted,
                  StrCat("its work queue was full at ", options_.queue.max_items, " requests"));
  }
  const absl::Status ready = readiness.ToStatus();
  MutexLock lock(mutex_);
  ready_ = ready;
}

// While a source is not readable the maps of the others may find none of its objects, and so
// enqueue nothing for an event that concerns some. Nobody can tell which; so everything is gone
// through.
void Controller::Core::ReplaySoon() {
  if (replay_timer_ != nullptr && !AllSynced()) return;
  const absl::Duration wait = AllSynced() ? absl::ZeroDuration() : kReplaySettle;
  replay_timer_ = runtime_.loop.RunAt(Now() + wait, [this] {
    replay_timer_.reset();
    Replay();
  });
}

void Controller::Core::Replay() {
  log_.Info("Going through all objects, as a source was not readable");
  for (const Watched& watched : sources_) {
    const DemandSpec& demand = watched.source.demand;
    for (const auto& object : runtime_.cache.ListLastKnown(demand.kind, demand.ns)) {
      if (!demand.name.empty() && demand.name != object->name()) continue;
      OnEvent(watched,
              {.type = ObjectEvent::Type::kAdd, .object = object, .old = nullptr, .initial = true});
    }
  }
}

void Controller::Core::ArmRetryTimer() {
  if (phase_ != Phase::kRunning) return;
  const absl::Time next = queue_.NextReady();
  if (next >= retry_timer_at_) return;
  retry_timer_at_ = next;
  retry_timer_ = runtime_.loop.RunAt(next, [this] {
    retry_timer_at_ = absl::InfiniteFuture();
    ArmMetricsTimer();
    workers_.Pump();
    ArmRetryTimer();
  });
}

void Controller::Core::ArmReliefTimer() {
  if (relief_timer_ != nullptr || phase_ != Phase::kRunning) return;
  relief_timer_ = runtime_.loop.RunAt(Now() + kReliefPeriod, [this] {
    relief_timer_.reset();
    // It may get stuck too.
    if (workers_.Relieve()) ArmReliefTimer();
  });
}

void Controller::Core::ArmMetricsTimer() {
  if (metrics_timer_ != nullptr || phase_ == Phase::kStopped) return;
  metrics_timer_ = runtime_.loop.RunAt(Now() + kMetricsPeriod, [this] { OnMetricsTimer(); });
}

void Controller::Core::OnMetricsTimer() {
  metrics_timer_.reset();
  // Asked before the update: what ends after it is seen by the next one.
  const bool busy = queue_.Len(Now()) > 0 || workers_.count() > 0;
  queue_.UpdateMetrics(queue_metrics_, Now());
  if (refill_.active() && queue_.Items() <= options_.queue.max_items / 2 && AllSynced()) {
    if (refill_.NextPart()) {
      OpenDemands();
    } else {
      log_.Info("Work queue has room again; what it refused was queued");
    }
    UpdateReady();
  }
  if (busy || refill_.active()) ArmMetricsTimer();
}

void Controller::Core::PumpSoon() {
  if (pump_posted_ || workers_.WakeFirst()) return;
  pump_posted_ = true;
  runtime_.loop.Post([core = shared_from_this()] {
    core->pump_posted_ = false;
    core->workers_.Pump();
  });
}

absl::Status Controller::Core::Stop(absl::Time deadline) {
  RequestStop();
  Loop& loop = runtime_.loop;
  loop.Post([core = shared_from_this(), deadline] { core->StopOnLoop(deadline); });
  loop.Await(workers_.drained());
  // Set as the task is destroyed: also when the loop, against the contract, has ended.
  std::shared_ptr<Latch> cleaned(&cleaned_,
                                 [core = shared_from_this()](Latch* latch) { latch->Set(); });
  loop.Post(
      [core = shared_from_this(), cleaned = std::move(cleaned)] { core->deadline_timer_.reset(); });
  loop.Await(cleaned_);
  const int left = workers_.count();
  if (left == 0) return absl::OkStatus();
  return absl::DeadlineExceededError(AsAbsl(
      StrCat("controller ", name, " of component ", runtime_.component, ": ", left,
             " reconcilers were still running when the time to stop was over; they should end when "
             "their context's stop is requested")));
}

void Controller::Core::StopOnLoop(absl::Time deadline) {
  if (phase_ != Phase::kStopped) log_.Info("Stopping controller");
  phase_ = Phase::kStopped;
  for (Watched& watched : sources_) watched.handle.reset();
  retry_timer_.reset();
  relief_timer_.reset();
  replay_timer_.reset();
  metrics_timer_.reset();
  if (deadline != absl::InfiniteFuture()) {
    deadline_timer_ = runtime_.loop.RunAt(deadline, [this] { workers_.GiveUp(); });
  }
  queue_.UpdateMetrics(queue_metrics_, Now());
  UpdateReady();
}

absl::StatusOr<std::unique_ptr<Controller>> Controller::Create(Options options) {
  RETURN_IF_ERROR(options.Validate());
  return std::unique_ptr<Controller>(new Controller(std::make_shared<Core>(std::move(options))));
}

Controller::Controller(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Controller::~Controller() = default;

void Controller::Start() { core_->Start(); }
void Controller::RequestStop() { core_->RequestStop(); }
absl::Status Controller::Stop(absl::Time deadline) { return core_->Stop(deadline); }
absl::Status Controller::Ready() const { return core_->Ready(); }
const std::string& Controller::name() const { return core_->name; }
const std::string& Controller::component() const { return core_->component(); }

}  // namespace mandate
