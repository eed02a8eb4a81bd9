#include "manager/controller/demand_set.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "manager/cache/wait_set.h"
#include "manager/cache/watch_errors.h"
#include "manager/controller/owner_rounds.h"
#include "manager/core/log.h"
#include "manager/core/log_reason.h"
#include "manager/core/mutex.h"
#include "manager/core/strings.h"
#include "manager/core/token_bucket.h"

namespace mandate {

class DemandSet::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(const ControllerContext& controller_context)
      : cache_(controller_context.cache),
        loop_(controller_context.loop),
        metrics_(controller_context.metrics),
        component_(controller_context.component),
        waits_(std::make_shared<WaitSet>(controller_context.loop)),
        log_(controller_context.log),
        lines_(kLines, loop_.clock().TimeNow()) {}

  void Connect(std::string_view controller, Enqueue enqueue) {
    const Labels labels = {{"controller", std::string(controller)}, {"identity", component_}};
    MutexLock lock(mutex_);
    log_ = log_.With("component", component_).With("controller", controller);
    gauges_ = {
        &metrics_.Gauge("mandate_demands",
                        "Demands that reconciled objects make while the program runs", labels),
        &metrics_.Gauge("mandate_demand_owners", "Reconciled objects that demand others", labels),
        &metrics_.Gauge("mandate_demand_scopes",
                        "Distinct kinds and scopes that reconciled objects demand", labels)};
    enqueue_ = std::move(enqueue);
  }

  // Applies `change`, which runs under the lock, to the demands of an owner in namespace `ns`.
  void Apply(const std::string& ns, absl::FunctionRef<DemandTable::Change(DemandTable&)> change) {
    std::vector<std::pair<DemandSpec, std::shared_ptr<Watched>>> opened;
    std::vector<std::shared_ptr<Watched>> joined;
    std::vector<std::shared_ptr<Watched>> closed;  // destroyed without the lock
    DemandTable::Change changed;
    {
      MutexLock lock(mutex_);
      if (closed_) return;
      changed = change(table_);
      for (const DemandSpec& spec : changed.opened) {
        opened.emplace_back(spec, watched_[spec] = std::make_shared<Watched>());
      }
      for (const DemandSpec& spec : changed.closed) closed.push_back(Extract(spec));
      for (const DemandSpec& spec : changed.joined) {
        const auto& watched = watched_.at(spec);
        watched->handle == nullptr ? watched->more_flows.push_back(ns) : joined.push_back(watched);
      }
      UpdateGauges();
    }
    for (const auto& watched : joined) watched->handle->AddFlow(ns);
    // The cache may call a sink inside Demand().
    for (const auto& [spec, watched] : opened) Open(spec, watched);
    EndWaits(changed.closed);
  }

  void Close() {
    std::vector<std::shared_ptr<Watched>> closed;
    DemandTable::Change changed;
    {
      MutexLock lock(mutex_);
      closed_ = true;
      enqueue_ = nullptr;
      changed = table_.ReleaseAll();
      rounds_.Clear();
      for (const DemandSpec& spec : changed.closed) closed.push_back(Extract(spec));
      UpdateGauges();
    }
    EndWaits(changed.closed);
  }

  absl::Status Check(const ObjectKey& owner) const {
    absl::Status worst;
    int denied = 0;
    MutexLock lock(mutex_);
    for (const DemandSpec& spec : table_.StreamsOf(owner)) {
      const DemandStatus& status = watched_.at(spec)->status;
      if (status.state == DemandState::kSynced) continue;
      // A denial does not end by waiting: it is reported first.
      absl::Status why = ErrorOf(spec, status);
      if (absl::IsPermissionDenied(why)) ++denied;
      if (denied > 1) continue;
      if (worst.ok() || absl::IsUnavailable(worst) || absl::IsPermissionDenied(why)) {
        worst = std::move(why);
      }
    }
    if (denied < 2) return worst;
    const std::string more = denied == 2 ? "another demand is" : StrCat(denied - 1, " more are");
    return absl::PermissionDeniedError(StrCat(AsStd(worst.message()), " (", more, " denied, too)"));
  }

  std::optional<DemandStatus> StatusOf(const DemandSpec& spec) const {
    MutexLock lock(mutex_);
    const auto watched = watched_.find(spec);
    if (watched == watched_.end()) return std::nullopt;
    return watched->second->status;
  }

  std::set<std::string> FlowsOf(const DemandSpec& spec) const {
    MutexLock lock(mutex_);
    return table_.NamespacesOfOwners(spec);
  }

  absl::Status Await(const CallContext& context, const DemandSpec& spec) {
    return waits_->Wait(
        context, spec.kind, spec.ToString(), [this, spec]() -> std::optional<absl::Status> {
          const auto status = StatusOf(spec);
          if (!status) return absl::CancelledError("the demand was released");
          // A demand that exceeds the memory stays pending for long: the caller gets the error now.
          const bool is_coming =
              status->state == DemandState::kPending && !IsLocalLimit(status->reason);
          if (is_coming) return std::nullopt;
          return status->state == DemandState::kSynced ? absl::OkStatus() : ErrorOf(spec, *status);
        });
  }

 private:
  // Of the log: one revocation may deny thousands of demands, and their owners' status has each.
  static constexpr TokenBucket::Options kLines = {.per_second = 1, .burst = 20};

  // One open demand of the cache.
  struct Watched {
    std::unique_ptr<DemandHandle> handle;  // null until the cache has returned it
    std::vector<std::string> more_flows;   // since it was asked; for the handle
    DemandStatus status;
    bool denied = false;  // since it was synced last, or since its begin
  };

  class Sink : public DemandSink {
   public:
    Sink(std::weak_ptr<Core> core, DemandSpec spec, std::weak_ptr<Watched> watched)
        : core_(std::move(core)), spec_(std::move(spec)), watched_(std::move(watched)) {}
    void OnEvent(const ObjectEvent& event) override {
      // The owners of initial objects are reconciled when the state becomes kSynced.
      if (event.initial) return;
      if (auto core = core_.lock()) core->OnEvent(spec_, event);
    }
    void OnState(const DemandStatus& status) override {
      auto core = core_.lock();
      if (auto watched = watched_.lock(); core != nullptr && watched != nullptr) {
        core->OnState(spec_, *watched, status);
      }
    }
    std::set<std::string> Flows() const override {
      const auto core = core_.lock();
      return core == nullptr ? std::set<std::string>() : core->FlowsOf(spec_);
    }

   private:
    const std::weak_ptr<Core> core_;
    const DemandSpec spec_;
    const std::weak_ptr<Watched> watched_;
  };

  static absl::Status ErrorOf(const DemandSpec& spec, const DemandStatus& status) {
    const std::string why = StrCat(spec.ToString(), " is ", ToString(status.state), ": ",
                                   AsStd(status.reason.message()));
    switch (status.state) {
      case DemandState::kForbidden:
        return absl::PermissionDeniedError(status.reason.message());
      case DemandState::kKindAbsent:
        return absl::NotFoundError(why);
      default:
        if (IsLocalLimit(status.reason)) return absl::ResourceExhaustedError(why);
        return absl::UnavailableError(why);
    }
  }

  std::shared_ptr<Watched> Extract(const DemandSpec& spec) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto at = watched_.find(spec);
    auto watched = std::move(at->second);
    watched_.erase(at);
    return watched;
  }

  void Open(const DemandSpec& spec, const std::shared_ptr<Watched>& watched) {
    auto handle = cache_.Demand(spec, std::make_shared<Sink>(weak_from_this(), spec, watched));
    MutexLock lock(mutex_);
    const auto current = watched_.find(spec);
    // Else another thread has released the demand meanwhile, and the handle ends it here.
    if (current == watched_.end() || current->second != watched) return;
    watched->handle.swap(handle);
    for (std::string& flow : std::exchange(watched->more_flows, {})) {
      watched->handle->AddFlow(std::move(flow));
    }
  }

  // Ends the waits for demands that were released.
  void EndWaits(const std::vector<DemandSpec>& released) {
    if (released.empty()) return;
    loop_.Post([waits = waits_, released] {
      for (const DemandSpec& spec : released) waits->Evaluate(spec.kind);
    });
  }

  void OnEvent(const DemandSpec& spec, const ObjectEvent& event) {
    std::vector<Request> requests;
    Enqueue enqueue;
    {
      MutexLock lock(mutex_);
      if (ConcernsMany(spec, event)) return EnqueueInSlices(spec, event);
      const auto add = [&](const ObjectKey& owner) { requests.push_back({owner}); };
      if (!table_.HasSelectors(spec)) {
        table_.ForEachOwner(spec, add);
      } else {
        table_.ForEachOwner(spec, event.object->Header().labels, add);
        // An owner that loses the object learns of it, too.
        if (event.old != nullptr) table_.ForEachOwner(spec, event.old->Header().labels, add);
      }
      enqueue = enqueue_;
    }
    Send(std::move(requests), enqueue);
  }

  void OnState(const DemandSpec& spec, Watched& watched, const DemandStatus& status) {
    std::vector<Request> requests;
    Enqueue enqueue;
    {
      MutexLock lock(mutex_);
      const DemandStatus before = std::exchange(watched.status, status);
      const auto current = watched_.find(spec);
      if (current == watched_.end() || current->second.get() != &watched) return;
      // A failure of the first try does not change the state.
      const bool fails = status.failed && !status.EqualsIgnoringText(before);
      if (status.state != before.state || fails) {
        if (table_.MostOwners(spec) > OwnerRounds::kSlice) {
          EnqueueAll(spec);
        } else {
          table_.ForEachOwner(spec, [&](const ObjectKey& owner) { requests.push_back({owner}); });
        }
        Log(spec, watched);
      }
      enqueue = enqueue_;
    }
    waits_->Evaluate(spec.kind);
    Send(std::move(requests), enqueue);
  }

  bool ConcernsMany(const DemandSpec& spec, const ObjectEvent& event) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!table_.HasSelectors(spec)) return table_.MostOwners(spec) > OwnerRounds::kSlice;
    size_t most = table_.MostOwners(spec, event.object->Header().labels);
    if (event.old != nullptr) most += table_.MostOwners(spec, event.old->Header().labels);
    return most > OwnerRounds::kSlice;
  }

  void EnqueueInSlices(const DemandSpec& spec, const ObjectEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!table_.HasSelectors(spec)) return EnqueueAll(spec);
    if (rounds_.Begin(table_, spec, event.object->Header().labels)) EnqueueSliceSoon();
    if (event.old != nullptr) rounds_.Begin(table_, spec, event.old->Header().labels);
  }

  void EnqueueAll(const DemandSpec& spec) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (rounds_.Begin(spec)) EnqueueSliceSoon();
  }

  void EnqueueSliceSoon() {
    loop_.Post([weak = weak_from_this()] {
      if (const auto core = weak.lock()) core->EnqueueSlice();
    });
  }

  void EnqueueSlice() {
    std::vector<Request> slice;
    Enqueue enqueue;
    {
      MutexLock lock(mutex_);
      slice = rounds_.NextSlice(table_);
      if (!rounds_.empty()) EnqueueSliceSoon();
      enqueue = enqueue_;
    }
    Send(std::move(slice), enqueue);
  }

  // A denial or an excess, and its end. Other states pass by themselves.
  void Log(const DemandSpec& spec, Watched& watched) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const DemandStatus& status = watched.status;
    const bool exceeds = IsLocalLimit(status.reason);
    if (status.state == DemandState::kForbidden || status.state == DemandState::kKindAbsent ||
        (exceeds && !watched.denied)) {
      watched.denied = true;
      WriteLine(exceeds ? "Demand exceeds the memory" : "Demand was denied",
                {{"demand", spec.ToString()},
                 {"state", ToString(status.state)},
                 {"reason", LogReason(status.reason)}});
    } else if (status.state == DemandState::kSynced && std::exchange(watched.denied, false)) {
      WriteLine("Demand is synced again", {{"demand", spec.ToString()}});
    }
  }

  void WriteLine(std::string_view message, Logger::Fields fields)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const absl::Time now = loop_.clock().TimeNow();
    if (lines_.Wait(now) == absl::ZeroDuration()) {
      lines_.Take(now);
      skips_lines_ = false;
      return log_.Info(message, fields);
    }
    if (!std::exchange(skips_lines_, true)) {
      log_.Info("Many demands change their state: those that follow are logged at -v=1");
    }
    log_.Debug(1, message, fields);
  }

  static void Send(std::vector<Request> requests, const Enqueue& enqueue) {
    if (requests.empty() || enqueue == nullptr) return;
    std::sort(requests.begin(), requests.end());
    requests.erase(std::unique(requests.begin(), requests.end()), requests.end());
    enqueue(requests);
  }

  void UpdateGauges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (gauges_.demands == nullptr) return;
    gauges_.demands->Set(static_cast<double>(table_.demands()));
    gauges_.owners->Set(static_cast<double>(table_.owners()));
    gauges_.scopes->Set(static_cast<double>(table_.streams()));
  }

  struct Gauges {
    prometheus::Gauge* demands = nullptr;
    prometheus::Gauge* owners = nullptr;
    prometheus::Gauge* scopes = nullptr;
  };

  CacheView& cache_;
  Loop& loop_;
  Metrics& metrics_;
  const std::string component_;
  const std::shared_ptr<WaitSet> waits_;

  mutable Mutex mutex_;
  Logger log_ ABSL_GUARDED_BY(mutex_);
  DemandTable table_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<DemandSpec, std::shared_ptr<Watched>> watched_ ABSL_GUARDED_BY(mutex_);
  Enqueue enqueue_ ABSL_GUARDED_BY(mutex_);
  OwnerRounds rounds_ ABSL_GUARDED_BY(mutex_);
  Gauges gauges_ ABSL_GUARDED_BY(mutex_);
  TokenBucket lines_ ABSL_GUARDED_BY(mutex_);
  bool skips_lines_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

DemandSet::DemandSet(const ControllerContext& controller_context)
    : cache_(controller_context.cache), core_(std::make_shared<Core>(controller_context)) {}

DemandSet::~DemandSet() { core_->Close(); }

void DemandSet::Replace(const DemandOwner& owner, const std::vector<SelectedDemand>& demands) {
  core_->Apply(owner.key.ns, [&](DemandTable& table) { return table.Replace(owner, demands); });
}

void DemandSet::Release(const DemandOwner& owner) {
  core_->Apply(owner.key.ns,
               [&](DemandTable& table) { return table.Release(owner.key, owner.uid); });
}

void DemandSet::Release(const ObjectKey& owner) {
  core_->Apply(owner.ns, [&](DemandTable& table) { return table.Release(owner); });
}

absl::Status DemandSet::Check(const DemandOwner& owner) const { return core_->Check(owner.key); }

std::optional<DemandStatus> DemandSet::StatusOf(const DemandSpec& spec) const {
  return core_->StatusOf(spec);
}

absl::Status DemandSet::Await(const CallContext& context, const DemandOwner& owner,
                              const SelectedDemand& demand) {
  core_->Apply(owner.key.ns, [&](DemandTable& table) { return table.Add(owner, demand); });
  return core_->Await(context, demand.Stream());
}

void DemandSet::Connect(std::string_view controller, Enqueue enqueue) {
  core_->Connect(controller, std::move(enqueue));
}

void DemandSet::Close() { core_->Close(); }

}  // namespace mandate
