#include "manager/controller/controller.h"

#include <utility>

#include "manager/cache/watch_errors.h"
#include "manager/controller/controller_core.h"
#include "manager/controller/readiness.h"
#include "manager/core/log_reason.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// The period of metric updates while the queue is in use.
constexpr absl::Duration kMetricsPeriod = absl::Milliseconds(500);
// How long a resync waits for other sources that cannot be read: after an outage they return one
// after the other, and one resync is enough for all.
constexpr absl::Duration kResyncSettle = absl::Seconds(1);
// How long the first list of a source may fail before this is an error. The cache finds a CRD that
// was just created within that time.
constexpr absl::Duration kFirstListLimit = absl::Minutes(1);

}  // namespace

void Controller::Core::WarmUpOnLoop() {
  if (phase_ != Phase::kIdle) return;
  phase_ = Phase::kWarm;
  log_.Info("Warming up", {{"sources", watched_.size()}});
  OpenSources();
}

void Controller::Core::StartOnLoop() {
  if (phase_ != Phase::kIdle && phase_ != Phase::kWarm) return;
  const bool is_warm = phase_.exchange(Phase::kWaiting) == Phase::kWarm;
  log_.Info("Starting controller", {{"sources", watched_.size()}, {"warm", is_warm}});
  if (!is_warm) OpenSources();
  if (watched_.empty() || mapped_lists_) StartWorkers();
  if (demands_ == nullptr) return;
  demands_->Connect(name, [weak = weak_from_this()](const std::vector<Request>& requests) {
    if (auto core = weak.lock()) core->OnDemanded(requests);
  });
}

void Controller::Core::OpenSources() {
  for (size_t i = 0; i < watched_.size(); ++i) {
    auto handle = context_.cache.Demand(mapper_.sources()[i].demand,
                                        std::make_shared<Sink>(weak_from_this(), i));
    MutexLock lock(mutex_);
    watched_[i].handle = std::move(handle);
  }
}

void Controller::Core::OnEvent(size_t source, const ObjectEvent& event) {
  if (phase_ == Phase::kStopped) return;
  if (mapper_.OnEvent(source, event)) MapSoon();
  ArmMetricsTimer();
  if (demands_ != nullptr && event.type == ObjectEvent::Type::kDelete &&
      mapper_.sources()[source].is_primary) {
    demands_->Release({event.object->Key(), std::string(event.object->uid())});
  }
  Watched& watched = watched_[source];
  if (watched.paused || event.initial || !mapper_.IsFull()) return;
  watched.paused = true;
  metrics_.pauses.Increment();
  log_.Error("Map functions are slower than the events; the source is paused until they catch up",
             {{"source", mapper_.sources()[source].demand.ToString()},
              {"limit", options_.max_unmapped_events}});
  watched.handle->Pause();
  ++paused_;
  // The maps may have caught up before they saw the pause. Then nothing else would end it.
  if (mapper_.HasCapacity()) PostToLoop(&Core::ResumeSources);
}

void Controller::Core::OnPurged(size_t source, const Backlog::Purged& objects) {
  if (phase_ == Phase::kStopped) return;
  if (mapper_.OnPurged(source, objects)) MapSoon();
  watched_[source].unreadable = true;  // a pass is due once it is synced
  if (demands_ == nullptr || !mapper_.sources()[source].is_primary) return;
  for (const auto& object : objects) {
    watched_[source].purged.push_back({object->Key(), std::string(object->uid())});
  }
}

void Controller::Core::ReleasePurged(size_t source) {
  const KindInfo& kind = mapper_.sources()[source].demand.kind;
  for (const DemandOwner& owner : std::exchange(watched_[source].purged, {})) {
    const auto now = context_.cache.GetLastKnown(kind, owner.key);
    if (now == nullptr || now->uid() != owner.uid) demands_->Release(owner);
  }
}

void Controller::Core::OnDemanded(const std::vector<Request>& requests) {
  if (phase_ == Phase::kStopped) return;
  bool rejected = false;
  for (const Request& request : requests) rejected |= !queue_.Add(request, {}, Now());
  OnEnqueued();
  // The queue is full. The pass waits for room, and covers each object that is reconciled.
  if (rejected && mapper_.Resync()) MapSoon();
}

void Controller::Core::ResumeSources() {
  if (paused_ == 0 || phase_ == Phase::kStopped) return;
  for (Watched& watched : watched_) {
    if (std::exchange(watched.paused, false)) watched.handle->Resume();
  }
  paused_ = 0;
  // Reconcilers may have read states of objects for which no event will come.
  ResyncSoon();
}

void Controller::Core::OnState(size_t source, const DemandStatus& status) {
  if (phase_ == Phase::kStopped) return;
  Watched& watched = watched_[source];
  const DemandStatus before = std::exchange(watched.status, status);
  if (status.state != before.state) watched.logged.clear();
  if (status.state == DemandState::kSynced) {
    return OnSynced(source, before.state != DemandState::kSynced);
  }
  if (watched.listed && status.state != DemandState::kStale) watched.unreadable = true;
  OnUnsynced(source);
  if (!status.reason.ok() && (status.failed || status.state != DemandState::kPending) &&
      watched.logged.insert(status.reason.code()).second) {
    LogUnsynced(source);
  }
}

void Controller::Core::LogUnsynced(size_t source) {
  Watched& watched = watched_[source];
  const std::string demand = mapper_.sources()[source].demand.ToString();
  const std::string reason = LogReason(watched.status.reason);
  if (watched.listed) {
    log_.Error("Source was lost", {{"source", demand}, {"error", reason}});
    return;
  }
  log_.Info("Source is not synced yet", {{"source", demand}, {"reason", reason}});
  if (watched.late != nullptr) return;
  watched.late = context_.loop.RunAt(Now() + kFirstListLimit, [this, demand, &watched] {
    // The preflight reports missing permissions, and external grants may come later.
    if (watched.status.reason.ok() || watched.status.state == DemandState::kForbidden) return;
    log_.Error("Source is still not synced", {{"source", demand},
                                              {"error", LogReason(watched.status.reason)},
                                              {"waited", kFirstListLimit}});
  });
}

void Controller::Core::OnSynced(size_t source, bool again) {
  Watched& watched = watched_[source];
  watched.timeout.reset();
  watched.denied = false;
  const bool was_late = std::exchange(watched.late, nullptr) != nullptr;
  if (again && (watched.listed || was_late)) {
    log_.Info(watched.listed ? "Source is synced again" : "Source is synced now",
              {{"source", mapper_.sources()[source].demand.ToString()}});
  }
  if (again && (watched.listed || watched.given_up)) {
    // Requests that failed because of it need not wait for their retry.
    queue_.RetryNow(Now());
    ArmMetricsTimer();
    workers_.WakeAsNeeded();
  }
  if (!watched.listed) {
    MutexLock lock(mutex_);
    watched.listed = true;
  }
  if (!watched.purged.empty()) ReleasePurged(source);
  if (mapper_.OnListed(source)) MapSoon();
  if (std::exchange(watched.unreadable, false)) ResyncSoon();
}

void Controller::Core::OnUnsynced(size_t source) {
  Watched& watched = watched_[source];
  const DemandState state = watched.status.state;
  const bool denied = state == DemandState::kForbidden || state == DemandState::kKindAbsent;
  // Without the kind there are no objects.
  if (state == DemandState::kKindAbsent) ReleasePurged(source);
  if (watched.listed) {
    // The status of every object, also of one without events, must report it.
    if (denied && !std::exchange(watched.denied, true) && KnowsReconciled()) ResyncSoon();
  } else if (!IsAwaited(source) && !watched.given_up) {
    if (denied) return GiveUp(source);
    const bool fails = watched.status.failed && !mapper_.sources()[source].is_primary;
    if (!fails || watched.timeout != nullptr) return;
    watched.timeout =
        context_.loop.RunAt(Now() + options_.initial_sync_timeout, [this, source, &watched] {
          watched.timeout.reset();
          if (watched.status.failed) GiveUp(source);  // else a list is under way
        });
  }
}

bool Controller::Core::IsAwaited(size_t source) const {
  if (!mapper_.sources()[source].is_primary) return false;
  const auto is_primary = [](const Source& other) { return other.is_primary; };
  return std::ranges::count_if(mapper_.sources(), is_primary) == 1;
}

void Controller::Core::GiveUp(size_t source) {
  Watched& watched = watched_[source];
  watched.timeout.reset();
  watched.given_up = true;
  watched.unreadable = true;
  if (mapper_.OnListed(source)) MapSoon();
}

bool Controller::Core::KnowsReconciled() const {
  for (size_t i = 0; i < watched_.size(); ++i) {
    const DemandState state = watched_[i].status.state;
    if (!mapper_.sources()[i].is_primary) continue;
    if (state == DemandState::kSynced || state == DemandState::kStale) return true;
  }
  return false;
}

void Controller::Core::StartWorkers() {
  if (phase_ != Phase::kWaiting) return;
  phase_ = Phase::kRunning;
  log_.Info("Starting workers", {{"workers", options_.max_concurrent_reconciles}});
  ArmRetryTimer();
  workers_.Start(weak_from_this());
}

void Controller::Core::MapSlice() {
  const EventMapper::Slice slice = mapper_.RunSlice();
  if (slice.more) MapSoon();
  if (slice.listed) {
    mapped_lists_ = true;
    PostToLoop(&Core::StartWorkers);
  }
  if (paused_ > 0 && mapper_.HasCapacity()) PostToLoop(&Core::ResumeSources);
}

absl::Status Controller::Core::Ready() const {
  Readiness readiness(StrCat("controller ", name, " of component ", context_.component));
  const Phase phase = phase_;
  if (phase == Phase::kIdle) readiness.Add(absl::StatusCode::kUnavailable, "not started");
  if (phase == Phase::kStopped) readiness.Add(absl::StatusCode::kUnavailable, "stopped");
  {
    MutexLock lock(mutex_);
    for (size_t i = 0; i < watched_.size(); ++i) {
      if (watched_[i].handle == nullptr) continue;
      const DemandStatus status = watched_[i].handle->status();
      const bool forbidden = status.state == DemandState::kForbidden || IsLocalLimit(status.reason);
      if (forbidden && options_.forbidden_sources_are_ready) continue;
      readiness.AddSource(mapper_.sources()[i].demand.ToString(), status, watched_[i].listed);
    }
  }
  if (phase == Phase::kWaiting || (phase == Phase::kWarm && !mapped_lists_)) {
    readiness.AddIfEmpty(absl::StatusCode::kUnavailable,
                         "its map functions still process the initial lists");
  }
  if (mapper_.refilling()) {
    readiness.Add(absl::StatusCode::kResourceExhausted,
                  StrCat("its work queue was full at ", options_.queue.max_items, " requests"));
  }
  if (paused_ > 0) {
    readiness.Add(absl::StatusCode::kResourceExhausted,
                  StrCat("its map functions are slower than the events: ", mapper_.waiting(),
                         " events wait"));
  }
  return readiness.ToStatus();
}

// While a source cannot be read, the maps of the others may find none of its objects, and enqueue
// nothing for an event that concerns some. Which events these were is unknown, so that all objects
// are mapped again.
void Controller::Core::ResyncSoon() {
  if (resync_timer_ != nullptr && !AllSynced()) return;
  const absl::Duration wait = AllSynced() ? absl::ZeroDuration() : kResyncSettle;
  resync_timer_ = context_.loop.RunAt(Now() + wait, [this] {
    resync_timer_.reset();
    log_.Info("Mapping all objects again, because a source was unreadable or paused");
    if (mapper_.Resync()) MapSoon();
    ArmMetricsTimer();
  });
}

void Controller::Core::ArmRetryTimer() {
  if (phase_ != Phase::kRunning) return;
  const absl::Time next = queue_.NextReady();
  if (next >= retry_timer_at_) return;
  retry_timer_at_ = next;
  retry_timer_ = context_.loop.RunAt(next, [this] {
    retry_timer_at_ = absl::InfiniteFuture();
    ArmMetricsTimer();
    workers_.WakeAsNeeded();
    ArmRetryTimer();
  });
}

void Controller::Core::ArmMetricsTimer() {
  if (metrics_timer_ != nullptr || phase_ == Phase::kStopped) return;
  metrics_timer_ = context_.loop.RunAt(Now() + kMetricsPeriod, [this] { OnMetricsTimer(); });
}

void Controller::Core::OnMetricsTimer() {
  metrics_timer_.reset();
  // The value is read before the update. So the next update sees what ends later.
  const bool busy = queue_.Len(Now()) > 0 || workers_.count() > 0 || mapper_.busy();
  queue_.UpdateMetrics(queue_metrics_, Now());
  metrics_.waiting_events.Set(static_cast<double>(mapper_.waiting()));
  const bool refilling = mapper_.refilling();
  if (refilling && queue_.Items() <= options_.queue.max_items / 2 && AllSynced() &&
      mapper_.OnQueueHasRoom()) {
    MapSoon();
  }
  if (busy || refilling) ArmMetricsTimer();
}

absl::Status Controller::Core::Stop(absl::Time deadline) {
  RequestStop();
  Loop& loop = context_.loop;
  loop.Post([core = shared_from_this(), deadline] { core->StopOnLoop(deadline); });
  loop.Await(workers_.drained());
  // A latch is set when its task is destroyed, also if the executor has ended.
  const auto set = [core = shared_from_this()](Latch* latch) { latch->Set(); };
  context_.strand->Post([mapped = std::shared_ptr<Latch>(&mapped_, set)] {});
  loop.Await(mapped_);
  loop.Post([core = shared_from_this(), cleaned = std::shared_ptr<Latch>(&cleaned_, set)] {
    core->deadline_timer_.reset();
  });
  loop.Await(cleaned_);
  const int left = workers_.count();
  if (left > 0) {
    return absl::DeadlineExceededError(
        AsAbsl(StrCat("controller ", name, " of component ", context_.component, ": ", left,
                      " reconcilers were still running at the end of the stop timeout; they must "
                      "return when their context's stop is requested")));
  }
  if (mapper_.mapping()) {
    return absl::DeadlineExceededError(
        AsAbsl(StrCat("controller ", name, " of component ", context_.component,
                      ": a map function was still running at the end of the stop timeout; map "
                      "functions must not block")));
  }
  return absl::OkStatus();
}

void Controller::Core::StopOnLoop(absl::Time deadline) {
  if (phase_ != Phase::kStopped) log_.Info("Stopping controller");
  phase_ = Phase::kStopped;
  for (Watched& watched : watched_) {
    watched.timeout.reset();
    watched.late.reset();
    std::unique_ptr<DemandHandle> handle;
    MutexLock lock(mutex_);
    handle.swap(watched.handle);
  }
  if (demands_ != nullptr) demands_->Close();
  retry_timer_.reset();
  resync_timer_.reset();
  metrics_timer_.reset();
  if (deadline != absl::InfiniteFuture()) {
    deadline_timer_ = context_.loop.RunAt(deadline, [this] {
      workers_.Abandon();
      mapped_.Set();
    });
  }
  queue_.UpdateMetrics(queue_metrics_, Now());
}

absl::StatusOr<std::unique_ptr<Controller>> Controller::Create(Options options) {
  RETURN_IF_ERROR(options.Validate());
  const std::shared_ptr<RequestChannel> channel = options.channel;
  const auto core = std::make_shared<Core>(std::move(options));
  if (channel != nullptr) {
    channel->Connect([weak = std::weak_ptr<Core>(core)](const Request& request, int priority) {
      const auto core = weak.lock();
      return core != nullptr && core->Enqueue(request, priority);
    });
  }
  return std::unique_ptr<Controller>(new Controller(core));
}

Controller::Controller(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Controller::~Controller() = default;

void Controller::WarmUp() { core_->WarmUp(); }
void Controller::Start() { core_->Start(); }
void Controller::RequestStop() { core_->RequestStop(); }
absl::Status Controller::Stop(absl::Time deadline) { return core_->Stop(deadline); }
absl::Status Controller::Ready() const { return core_->Ready(); }
QueueSnapshot Controller::Queue(size_t most_requests) const { return core_->Queue(most_requests); }
const std::string& Controller::name() const { return core_->name; }
const std::string& Controller::component() const { return core_->component(); }
int Controller::max_concurrent_reconciles() const { return core_->max_concurrent(); }
bool Controller::warms_up() const { return core_->warms_up(); }

}  // namespace mandate
