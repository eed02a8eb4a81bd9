#include "controllers/memcached/reconciler.h"

#include <utility>

#include "controllers/memcached/deployment.h"
#include "controllers/report.h"
#include "manager/cache/watch_errors.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/controller/finalizer.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::memcached {
namespace {

using appsv1::Deployment;
using v1alpha1::Memcached;

// The delay while a foreign Deployment has the name: its events are not the Memcached's, because
// its labels are others. Each check only reads the cache.
constexpr absl::Duration kTakenRetry = absl::Seconds(10);
// The pause between the release of demands and new ones. A new demand that came before the watch is
// closed would join it, with its proof of access.
constexpr absl::Duration kPause = absl::Seconds(1);
constexpr char kFinalizer[] = "cache.example.com/finalizer";

// kUnavailable: the demand has no answer yet, or none any more. kResourceExhausted: the objects are
// larger than what the operator may hold.
absl::Status StateOf(const DemandSet& demands, const DemandSpec& spec) {
  const std::optional<DemandStatus> status = demands.StatusOf(spec);
  if (!status.has_value())
    return absl::UnavailableError(StrCat(spec.ToString(), " is not demanded"));
  if (status->state == DemandState::kSynced) return absl::OkStatus();
  if (status->state == DemandState::kForbidden) {
    return absl::PermissionDeniedError(status->reason.message());
  }
  if (IsLocalLimit(status->reason)) return status->reason;
  return absl::UnavailableError(StrCat(spec.ToString(), " is ", ToString(status->state), ": ",
                                       AsStd(status->reason.message())));
}

// Whether the error concerns this namespace, and its Memcacheds should report it.
bool IsReported(const absl::Status& error) {
  return absl::IsPermissionDenied(error) || absl::IsResourceExhausted(error);
}

// The result of `read`, if the kind is synced in the namespace.
template <class T, class Read>
auto ReadSynced(const DemandSet& demands, const std::string& ns, Read read) -> decltype(read()) {
  RETURN_IF_ERROR(StateOf(demands, {KindOf<T>::value, ns, ""}));
  return read();
}

void LogWrite(const std::optional<Deployment>& observed, const Deployment& desired,
              const Logger& log) {
  if (!observed.has_value()) {
    log.Info("Creating a new Deployment",
             {{"Deployment.Namespace", desired.metadata().namespace_()},
              {"Deployment.Name", desired.metadata().name()}});
  } else if (observed->spec().replicas() != desired.spec().replicas()) {
    log.Info(
        "Deployment Spec.Replicas does not match Memcached CR Spec.Size -- Updating Deployment",
        {{"Spec.Replicas", observed->spec().replicas()}, {"Spec.Size", desired.spec().replicas()}});
  } else {
    log.Info("Deployment is not as desired -- Updating Deployment");
  }
}

}  // namespace

MemcachedReconciler::MemcachedReconciler(const Component& component, Client<kMemcached> client,
                                         std::shared_ptr<DemandSet> demands)
    : component_(component), client_(std::move(client)), demands_(std::move(demands)) {}

absl::StatusOr<Result> MemcachedReconciler::Reconcile(const CallContext& context,
                                                      const Request& request) {
  const Logger log = context.log();
  auto read = component_.cache().Get<Memcached>(context, request.key);
  if (IsNotFound(read.status())) {
    {
      MutexLock lock(mutex_);
      deleted_.erase(request.key);
    }
    denied_writes_.Remove(request.key);
    Release(request.key, log);
    log.Info("Memcached resource not found. Ignoring since object must be deleted");
    return Result{};
  }
  RETURN_IF_ERROR(read.status());
  Memcached& memcached = *read;
  if (memcached.metadata().has_deletiontimestamp()) return TearDown(context, memcached, log);
  const absl::Status added = AddFinalizer(context, client_, memcached, kFinalizer);
  if (IsOutdated(added, request.key.name)) return Result{};
  RETURN_IF_ERROR(added);

  const absl::Duration pause = PauseOf(request.key);
  if (pause > absl::ZeroDuration()) return Result{.requeue_after = pause};
  DemandFor(memcached, log);
  log.Debug(1, "Getting Deployment");
  absl::StatusOr<Snapshot> snapshot = Read(context, std::move(memcached));
  if (absl::IsUnavailable(snapshot.status())) return Result{};
  RETURN_IF_ERROR(snapshot.status());

  const Plan plan = MakePlan(*snapshot);
  const absl::Status written = Write(context, *snapshot, plan, log);
  if (IsConflict(written)) return written;
  const std::optional<Problem> problem = FindProblem(*snapshot, plan, written);
  const bool failed_before = snapshot->memcached.status().state().status() == kFailed;
  RETURN_IF_ERROR(Report(context, *snapshot, problem, log));
  if (!absl::IsPermissionDenied(written)) {
    denied_writes_.Remove(request.key);
    RETURN_IF_ERROR(written);
    return Result{.requeue_after = plan.ends_unseen ? kTakenRetry : absl::ZeroDuration()};
  }
  const absl::Duration retry = denied_writes_.Add(request.key);
  if (failed_before) return Result{.requeue_after = retry};
  // The permission to read has probably ended, too. An open watch would show that only when its
  // proof of access expires, and a new one shows it at once.
  log.Info("Removing cache for memcached CR due to invalid permissions");
  Release(request.key, log, kPause);
  return Result{.requeue_after = kPause};
}

absl::StatusOr<Result> MemcachedReconciler::TearDown(const CallContext& context,
                                                     Memcached& memcached, const Logger& log) {
  bool is_new = false;
  {
    MutexLock lock(mutex_);
    const std::string& uid = memcached.metadata().uid();
    is_new = std::exchange(deleted_[KeyOf(memcached)], uid) != uid;
  }
  // It writes nothing any more: it takes no try from others.
  denied_writes_.Remove(KeyOf(memcached));
  // The finalizers of others may keep it for a while, with changes.
  if (is_new) log.Info("Memcached is being deleted");
  Release(KeyOf(memcached), log);
  const absl::Status removed = RemoveFinalizer(context, client_, memcached, kFinalizer);
  if (!removed.ok() && !IsOutdated(removed, memcached.metadata().name())) return removed;
  return Result{};
}

void MemcachedReconciler::DemandFor(const Memcached& memcached, const Logger& log) {
  const DemandOwner owner = OwnerOf(memcached);
  const auto selector = SelectorOf(owner.key.name);
  const std::string& ns = owner.key.ns;
  const std::vector<SelectedDemand> demands = {
      mandate::DemandFor<kMemcached, Deployment>(InNamespace{ns},
                                                 selector.value_or(LabelSelector())),
      mandate::DemandFor<kMemcached, PodMetadata>(InNamespace{ns},
                                                  selector.value_or(LabelSelector()))};
  bool is_new = false;
  {
    MutexLock lock(mutex_);
    is_new = std::exchange(demanding_[owner.key], owner.uid) != owner.uid;
  }
  if (is_new) {
    log.Info("Creating cache for memcached CR", {{"CR UID:", owner.uid}});
    for (const SelectedDemand& demand : demands) {
      log.Info("Starting EventSource",
               {{"source", demand.spec.ToString()}, {"selector", demand.selector.ToString()}});
    }
  }
  demands_->Replace(owner, demands);
}

void MemcachedReconciler::Release(const ObjectKey& owner, const Logger& log, absl::Duration pause) {
  std::string uid;
  {
    MutexLock lock(mutex_);
    paused_.erase(owner);
    if (pause > absl::ZeroDuration()) paused_[owner] = component_.clock().TimeNow() + pause;
    const auto found = demanding_.find(owner);
    if (found == demanding_.end()) return;
    uid = std::move(found->second);
    demanding_.erase(found);
  }
  log.Info("Removing ResourceCache", {{"CR UID:", uid}});
  demands_->Release(owner);
  log.Info("ResourceCache successfully removed", {{"CR UID:", uid}});
}

absl::Duration MemcachedReconciler::PauseOf(const ObjectKey& owner) {
  MutexLock lock(mutex_);
  const auto found = paused_.find(owner);
  if (found == paused_.end()) return absl::ZeroDuration();
  const absl::Duration left = found->second - component_.clock().TimeNow();
  if (left <= absl::ZeroDuration()) paused_.erase(found);
  return left;
}

absl::StatusOr<Snapshot> MemcachedReconciler::Read(const CallContext& context,
                                                   Memcached memcached) const {
  const ObjectKey key = KeyOf(memcached);
  const CacheView& cache = component_.cache();
  Snapshot snapshot{std::move(memcached)};
  auto deployment = ReadSynced<Deployment>(*demands_, key.ns,
                                           [&] { return cache.Get<Deployment>(context, key); });
  if (deployment.ok()) {
    snapshot.deployment = *std::move(deployment);
  } else if (IsReported(deployment.status())) {
    snapshot.deployment = deployment.status();
    return snapshot;  // the rest does not matter
  } else if (!IsNotFound(deployment.status())) {
    return deployment.status();
  }
  // By the index, and the metadata alone, because anybody may have many large Pods in the
  // namespace.
  const std::string label = LabelOf(key.name);
  snapshot.pods = ReadSynced<PodMetadata>(*demands_, key.ns, [&] {
    return cache.ListByIndex<PodMetadata>(context, {kLabel, label, key.ns});
  });
  if (!snapshot.pods.ok()) {
    if (IsReported(snapshot.pods.status())) return snapshot;
    return snapshot.pods.status();
  }
  const auto selector = SelectorOf(key.name);
  std::erase_if(*snapshot.pods, [&](const PodMetadata& pod) {
    return !selector.ok() || !selector->Matches(pod.metadata().labels());
  });
  return snapshot;
}

absl::Status MemcachedReconciler::Write(const CallContext& context, const Snapshot& snapshot,
                                        const Plan& plan, const Logger& log) {
  if (!plan.write.has_value()) return absl::OkStatus();
  const std::optional<Deployment>& observed = *snapshot.deployment;
  const absl::Status written =
      client_.Ensure(context, *plan.write, observed.has_value() ? &*observed : nullptr).status();
  // Failures are logged when the status changes, and not at each retry.
  if (written.ok()) LogWrite(observed, *plan.write, log);
  return written;
}

absl::Status MemcachedReconciler::Report(const CallContext& context, Snapshot& snapshot,
                                         const std::optional<Problem>& problem, const Logger& log) {
  const v1alpha1::MemcachedStatus status = MakeStatus(snapshot, problem);
  if (IsSame(snapshot.memcached.status(), status)) return absl::OkStatus();
  if (status.state().message() != snapshot.memcached.status().state().message()) {
    if (problem.has_value()) {
      log.Info(problem->what, {{"reason", problem->why}});
    } else {
      log.Info("Memcached is reconciled", {{"message", status.state().message()}});
    }
  }
  const absl::Status written = WriteStatus(context, client_, snapshot.memcached, status);
  const bool is_outdated = IsOutdated(written, snapshot.memcached.metadata().name());
  return is_outdated ? absl::OkStatus() : written;
}

absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component) {
  ASSIGN_OR_RETURN(auto client, Client<kMemcached>::Create(component.client));
  RETURN_IF_ERROR(
      component.cache().IndexField(KindOf<PodMetadata>::value, kLabel, IndexByLabel(kLabel)));
  auto demands = std::make_shared<DemandSet>(component.controller_context);
  return ControllerBuilder<kMemcached>(component.controller_context)
      .For<Memcached>()
      .WithDemands(demands)
      // A namespace's reconciles leave workers to the others, also while the API server takes long
      // for what they write.
      .WithOptions({.max_concurrent_reconciles = 8,
                    .reconcile_timeout = absl::Seconds(10),
                    .queue = {.max_of_namespace = 2}})
      .Complete(std::make_unique<MemcachedReconciler>(component, std::move(client), demands));
}

}  // namespace mandate::memcached
