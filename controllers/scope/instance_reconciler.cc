#include "controllers/scope/instance_reconciler.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/defer_if_slow.h"
#include "controllers/is_current.h"
#include "controllers/report.h"
#include "controllers/retry_delays.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/instance_reader.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/target.h"
#include "manager/client/discovery.h"
#include "manager/controller/controller_builder.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

std::vector<Request> InstancesBy(const CacheView& cache, std::string_view index,
                                 std::string_view value) {
  std::vector<Request> requests;
  for (const auto& raw : cache.ListLastKnownByIndex(KindOf<ScopeInstance>::value, {index, value})) {
    requests.push_back({raw->Key()});
  }
  return requests;
}

void Append(std::vector<Request> more, std::vector<Request>& requests) {
  requests.insert(requests.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

// Whether the instance's selector may match the namespace. An unreadable instance may.
bool MaySelect(const RawObject& raw, const corev1::Namespace& ns) {
  const auto instance = raw.Decode<ScopeInstance>();
  if (!instance.ok()) return true;
  const auto selector = NamespaceSelector(*instance);
  return !selector.ok() || !selector->has_value() || (*selector)->Matches(ns.metadata().labels());
}

// The instances that name the namespace or whose selector may match it. For an update, the old and
// the new namespace are tried.
std::vector<Request> InstancesOfNamespace(const CacheView& cache, const corev1::Namespace& ns) {
  std::vector<Request> requests = InstancesBy(cache, kByNamespace, ns.metadata().name());
  for (const auto& raw :
       cache.ListLastKnownByIndex(KindOf<ScopeInstance>::value, {kBySelector, kAnyLabel})) {
    if (MaySelect(*raw, ns)) requests.push_back({raw->Key()});
  }
  for (const auto& [key, value] : ns.metadata().labels()) {
    Append(InstancesBy(cache, kBySelector, StrCat(key, "=", value)), requests);
  }
  return requests;
}

// Adds the instances that own a binding of kind T to the role.
template <class T>
void AddOwnersOfBindings(const CacheView& cache, std::string_view role,
                         std::set<std::string>& instances) {
  for (const auto& raw : cache.ListLastKnownByIndex(KindOf<T>::value, {kByRoleRef, role})) {
    const ObjectHeader header = raw->Header();
    const OwnerReference* owner = header.Controller();
    if (owner != nullptr && owner->kind == KindOf<ScopeInstance>::value.kind) {
      instances.insert(owner->name);
    }
  }
}

// The instances whose template requests a ClusterRole of this name, and those with a binding to it:
// while a template is invalid, only the bindings show the roles of its instances.
std::vector<Request> InstancesOfRole(const CacheView& cache, const ClusterRole& role) {
  const std::string& name = role.metadata().name();
  std::vector<Request> requests;
  for (const auto& raw :
       cache.ListLastKnownByIndex(KindOf<ScopeTemplate>::value, {kByRoleName, name})) {
    Append(InstancesBy(cache, kByTemplate, raw->name()), requests);
  }
  std::set<std::string> owners;
  AddOwnersOfBindings<RoleBinding>(cache, name, owners);
  AddOwnersOfBindings<ClusterRoleBinding>(cache, name, owners);
  for (const std::string& owner : owners) requests.push_back({{"", owner}});
  return requests;
}

// The instances that a binding with another controller names by its label or by its own name.
template <class T>
std::vector<Request> InstancesOfStray(const CacheView& cache, const T& binding) {
  const auto& meta = binding.metadata();
  const OwnerReferenceProto* controller = ControllerOf(meta);
  const bool owned = controller != nullptr && IsOfKind(*controller, KindOf<ScopeInstance>::value);
  const std::string uid = owned ? controller->uid() : "";
  std::vector<Request> requests;
  const auto label = meta.labels().find(std::string(kInstanceUidLabel));
  if (label != meta.labels().end() && label->second != uid) {
    Append(InstancesBy(cache, kByUid, label->second), requests);
  }
  const std::string_view part = InstancePartOf(meta.name());
  if (!part.empty() && part != InstancePart(uid)) {
    Append(InstancesBy(cache, kByNamePart, part), requests);
  }
  return requests;
}

// The versions of the instance and its template: an edit of one of them ends a round of writes.
std::string VersionsOf(const InstanceSnapshot& snapshot) {
  const ObjectMetaProto& instance = snapshot.instance.metadata();
  std::string versions = StrCat(instance.uid(), " ", instance.generation());
  if (snapshot.scope_template.has_value()) {
    const ObjectMetaProto& of = snapshot.scope_template->metadata();
    StrAppend(&versions, " ", of.uid(), " ", of.generation());
  }
  return versions;
}

bool AreCurrent(const CacheView& cache, const InstanceSnapshot& read) {
  return IsCurrent(cache, read.instance) &&
         (!read.scope_template.has_value() || IsCurrent(cache, *read.scope_template));
}

// The error of a watch that the plan needs.
absl::Status UnavailableIn(const InstanceSnapshot& snapshot) {
  for (const absl::Status* unread : {&snapshot.bindings_read_error, &snapshot.template_read_error,
                                     &snapshot.roles_read_error, &snapshot.namespaces_read_error}) {
    if (absl::IsUnavailable(*unread)) return *unread;
  }
  return absl::OkStatus();
}

// Whether the condition reports failed or unfinished writes.
bool ReportsWrites(const ScopeInstance& instance) {
  const ConditionProto* scoped =
      FindFalse(instance.status().conditions(), kScoped, instance.metadata().generation());
  return scoped != nullptr &&
         (scoped->reason() == kScopingFailed || scoped->reason() == kScopingInProgress);
}

std::vector<std::string> FailuresOf(const Portion& portion) {
  std::vector<std::string> failures = portion.failures();
  const std::vector<std::string> removals = portion.removal_failures();
  failures.insert(failures.end(), removals.begin(), removals.end());
  return failures;
}

// Whether an update of a namespace matters: its labels change or its deletion begins.
Predicate LabelOrDeletionChanged() {
  return AnyOf({LabelChanged(), PredicateFrom({.add = {},
                                               .update =
                                                   [](const RawObject& old, const RawObject& now) {
                                                     return old.Header().deleting !=
                                                            now.Header().deleting;
                                                   },
                                               .remove = {}})});
}

}  // namespace

InstanceReconciler::InstanceReconciler(const Component& component, Client<kScopeInstance> client,
                                       InstanceOptions options)
    : component_(component),
      client_(std::move(client)),
      options_(options),
      discovery_(std::make_unique<Discovery>(component.client)),
      slow_(options.max_slow_reconciles),
      limit_exceeded_(component.controller_context.metrics.Counter(
          "mandate_scope_binding_limit_exceeded_total",
          "Reconciles of a ScopeInstance that requests more bindings than the limit",
          {{"identity", std::string(component.name())}})),
      portions_(component.controller_context.metrics.Counter(
          "mandate_scope_portions_total",
          "Reconciles that postponed writes of a ScopeInstance to the next one",
          {{"identity", std::string(component.name())}})),
      deferred_(component.controller_context.metrics.Counter(
          "mandate_scope_slow_reconciles_deferred_total",
          "Reconciles that waited because their earlier "
          "writes, and those of other objects, were slow",
          {{"identity", std::string(component.name())}})) {}

InstanceReconciler::~InstanceReconciler() = default;

Effect InstanceReconciler::ReadEffect(const CallContext& context,
                                      const std::vector<RoleTemplate>& roles) {
  const CallContext brief =
      context.WithDeadline(component_.clock().TimeNow() + options_.portion.max_time);
  KnownScopes scopes;
  for (const auto& resource : ResourcesOf(roles)) {
    const absl::StatusOr<Scope> scope = discovery_->ScopeOf(brief, resource.first, resource.second);
    if (absl::IsNotFound(scope.status())) continue;
    scopes[resource] = scope.ok() ? std::optional<Scope>(*scope) : std::nullopt;
  }
  return EffectInNamespaces(roles, scopes);
}

absl::StatusOr<InstancePlan> InstanceReconciler::Plan(const CallContext& context,
                                                      InstanceSnapshot& snapshot,
                                                      std::vector<std::string>& failures) const {
  InstancePlan plan = PlanInstance(snapshot, options_.plan);
  bool taken = false;
  std::set<std::string> unwatched;  // namespaces
  for (const NewBinding& binding : plan.create) {
    auto other = ReadBinding(context, component_.cache(), binding.key);
    if (absl::IsNotFound(other.status())) continue;
    if (absl::IsFailedPrecondition(other.status())) {
      unwatched.insert(binding.key.ns);
      continue;
    }
    RETURN_IF_ERROR(other.status());
    snapshot.bindings.push_back(*std::move(other));
    taken = true;
  }
  if (taken) plan = PlanInstance(snapshot, options_.plan);
  std::erase_if(plan.create, [&](const NewBinding& b) { return unwatched.contains(b.key.ns); });
  for (const std::string& ns : unwatched) {
    failures.push_back(StrCat(
        "namespace ", ns, " is not one of those that the manager watches (--watch-namespaces)"));
  }
  return plan;
}

absl::StatusOr<Result> InstanceReconciler::Reconcile(const CallContext& context,
                                                     const Request& request) {
  SlowObjects::Turn turn(slow_, request.key, component_.clock().TimeNow());
  if (turn.still_waiting()) return Later(turn);
  auto instance = component_.cache().Get<ScopeInstance>(context, request.key);
  if (absl::IsNotFound(instance.status())) return RevokeAll(context, request, turn);
  RETURN_IF_ERROR(instance.status());
  if (IsOrphaning(instance->metadata())) return Result{};
  ASSIGN_OR_RETURN(InstanceSnapshot snapshot,
                   ReadInstanceSnapshot(context, component_.cache(), *std::move(instance)));
  const absl::Status unavailable = UnavailableIn(snapshot);
  const bool may_report =
      unavailable_.MayReport(request.key, unavailable, component_.clock().TimeNow());
  std::vector<std::string> unwatched;
  ASSIGN_OR_RETURN(InstancePlan plan, Plan(context, snapshot, unwatched));
  const auto are_current = [&] { return AreCurrent(component_.cache(), snapshot); };
  const auto tell = [&](const CallContext& brief) {
    if (ReportsWrites(snapshot.instance)) return absl::OkStatus();
    return Report(brief, plan, {}, /*unfinished=*/true, snapshot.instance);
  };
  if (DeferIfSlow(context, component_.clock(), options_.portion, turn, WriteKindOf(plan), tell)) {
    return Later(context, plan, VersionsOf(snapshot), are_current, turn);
  }

  if (turn.slow()) {
    QuickFirst([&](const ObjectKey& binding) { return turn.IsQuick(binding); }, plan);
  }
  WriteRound round = rounds_.Take(request.key, VersionsOf(snapshot));
  Portion portion(component_.clock(), options_.portion, round, turn.has_slot());
  portion.StopWhen([&] { return !are_current(); });
  BindingWriter writer = WriterFor(context, portion);
  writer.CarryOut(plan);
  writer.Finish();
  if (portion.log().pending()) plan.reason = kRevocationPending;
  if (plan.exceeds_limit) limit_exceeded_.Increment();
  if (!plan.in_namespaces.empty()) plan.effect = ReadEffect(context, plan.in_namespaces);
  absl::Status reported;
  // Each portion of a round has its own failures: those of the first and the last with a write are
  // reported.
  const bool reports =
      !portion.unfinished() || (portion.tried() && !ReportsWrites(snapshot.instance));
  if (may_report && reports) {
    reported = portion.Report(context, [&](const CallContext& in_time) {
      std::vector<std::string> failures = FailuresOf(portion);
      failures.insert(failures.begin(), unwatched.begin(), unwatched.end());
      return Report(in_time, plan, failures, portion.unfinished(), snapshot.instance);
    });
  }
  if (portion.reported_slowly()) turn.NoteSlowReport();
  if (portion.tried() || portion.slow()) turn.End(portion.slow(), portion.tried_targets());
  if (portion.unfinished()) portions_.Increment();
  absl::StatusOr<Result> result = rounds_.ResultOf(request.key, portion);
  RETURN_IF_ERROR(portion.RequeueError(reported));
  RETURN_IF_ERROR(result.status());
  if (portion.unfinished()) return result;
  RETURN_IF_ERROR(NotBefore(*result, unavailable));
  const bool unread = !snapshot.bindings_read_error.ok() || !snapshot.roles_read_error.ok() ||
                      !snapshot.namespaces_read_error.ok();
  if (unread || !plan.pending.empty()) RequeueWithin(kLongestRetry, *result);
  // There is no event when discovery works again, so the reconcile is repeated.
  if (plan.effect.unknown) {
    RequeueWithin(std::max(discovery_->min_interval(), portion.RetryAfter()), *result);
  }
  return result;
}

Result InstanceReconciler::Later(const CallContext& context, const InstancePlan& plan,
                                 std::string of, const std::function<bool()>& are_current,
                                 SlowObjects::Turn& turn) {
  const InstancePlan early =
      RevocationsBeforeTurn(plan, [&](const ObjectKey& binding) { return turn.IsQuick(binding); });
  if (early.writes() > 0 && turn.TakeEarly()) {
    WriteRound round;
    round.of = std::move(of);
    Portion portion(component_.clock(), options_.portion, round, /*patient=*/false);
    portion.StopWhen([&] { return portion.slow() || !are_current(); });
    WriterFor(context, portion).CarryOut(early);
    turn.EndEarly(portion.slow(), portion.tried_targets());
  }
  return Later(turn);
}

Result InstanceReconciler::Later(SlowObjects::Turn& turn) {
  deferred_.Increment();
  return turn.RequeueLater();
}

absl::Status InstanceReconciler::Report(const CallContext& context, const InstancePlan& plan,
                                        const std::vector<std::string>& failures, bool unfinished,
                                        ScopeInstance& of) {
  return ReportConditions(context, component_, client_, of,
                          InstanceConditions(of, plan, failures, unfinished),
                          {kScoped, kEffective});
}

BindingWriter InstanceReconciler::WriterFor(const CallContext& context, Portion& portion) {
  return BindingWriter(
      context,
      {.client = client_, .fixes = fixes_, .clock = component_.clock(), .portion = portion});
}

absl::StatusOr<Result> InstanceReconciler::RevokeAll(const CallContext& context,
                                                     const Request& request,
                                                     SlowObjects::Turn& turn) {
  unavailable_.Forget(request.key);
  turn.NoteRevocation();
  const std::string& name = request.key.name;
  ASSIGN_OR_RETURN(KnownBindings known, ReadBindingsOf(context, component_.cache(), name));
  InstancePlan plan = PlanAbsentInstance(name, std::move(known.bindings));
  const auto are_current = [] { return true; };
  if (turn.must_wait()) return Later(context, plan, "", are_current, turn);
  if (turn.slow()) {
    QuickFirst([&](const ObjectKey& binding) { return turn.IsQuick(binding); }, plan);
  }
  WriteRound round = rounds_.Take(request.key, "");
  Portion portion(component_.clock(), options_.portion, round, turn.has_slot());
  BindingWriter writer = WriterFor(context, portion);
  writer.CarryOut(plan);
  writer.Finish();
  turn.End(portion.slow(), portion.tried_targets());
  ASSIGN_OR_RETURN(const Result result, rounds_.ResultOf(request.key, portion));
  if (!portion.unfinished()) RETURN_IF_ERROR(NotBefore(result, known.read_error));
  return result;
}

absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceController(const Component& component) {
  return MakeInstanceControllerWith(component, InstanceOptions());
}

absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceControllerWith(
    const Component& component, const InstanceOptions& options) {
  ASSIGN_OR_RETURN(auto client, Client<kScopeInstance>::Create(component.client));
  CacheView& cache = component.cache();
  RETURN_IF_ERROR(DeclareInstanceIndexes(cache));
  return ControllerBuilder<kScopeInstance>(component.controller_context)
      .Named("scope-instance")
      .WithOptions({.max_concurrent_reconciles = options.max_concurrent_reconciles,
                    .queue = {.max_delay = kLongestRetry}})
      .For<ScopeInstance>()
      .Owns<RoleBinding>()
      .Owns<ClusterRoleBinding>()
      .Watches<RoleBinding>(
          [&cache](const RoleBinding& binding) { return InstancesOfStray(cache, binding); })
      .Watches<ClusterRoleBinding>(
          [&cache](const ClusterRoleBinding& binding) { return InstancesOfStray(cache, binding); })
      .Watches<ScopeTemplate>([&cache](const ScopeTemplate& changed) {
        return InstancesBy(cache, kByTemplate, changed.metadata().name());
      })
      .Watches<ClusterRole>(
          [&cache](const ClusterRole& role) { return InstancesOfRole(cache, role); })
      .Watches<corev1::Namespace>(
          [&cache](const corev1::Namespace& ns) { return InstancesOfNamespace(cache, ns); },
          LabelOrDeletionChanged())
      .Complete(std::make_unique<InstanceReconciler>(component, std::move(client), options));
}

}  // namespace mandate::scope
