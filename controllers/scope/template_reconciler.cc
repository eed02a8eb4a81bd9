#include "controllers/scope/template_reconciler.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controllers/defer_if_slow.h"
#include "controllers/is_current.h"
#include "controllers/report.h"
#include "controllers/retry_delays.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/template_reader.h"
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

// The delay before bindings that changed during the read are read again.
constexpr absl::Duration kReadAgain = absl::Milliseconds(1);

// The templates that request a ClusterRole of this name.
std::vector<Request> TemplatesOfRole(const CacheView& cache, std::string_view role) {
  std::vector<Request> requests;
  for (const auto& raw :
       cache.ListLastKnownByIndex(KindOf<ScopeTemplate>::value, {kByRoleName, role})) {
    requests.push_back({raw->Key()});
  }
  return requests;
}

// The same for a changed or deleted binding, which matters only to a template that waits for it.
template <class T>
std::vector<Request> TemplatesThatWait(const CacheView& cache, AwaitedBindings& awaited,
                                       const T& binding) {
  const std::string& role = binding.roleref().name();
  const auto& meta = binding.metadata();
  const std::string text = Binding{{meta.namespace_(), meta.name()}, {}}.ToString();
  std::vector<Request> requests = TemplatesOfRole(cache, role);
  std::erase_if(requests, [&](const Request& request) {
    return !awaited.NoteChange(request.key, role, text);
  });
  return requests;
}

// The bindings that prevent the template's roles.
AwaitedBindings::ByRole BlockingBindingsIn(const TemplateSnapshot& snapshot) {
  AwaitedBindings::ByRole bindings;
  for (const auto& [role, blocking_bindings] : snapshot.blocking_bindings) {
    bindings[role].insert(blocking_bindings.bindings.begin(), blocking_bindings.bindings.end());
  }
  return bindings;
}

// The error of a watch that the plan needs.
absl::Status UnavailableIn(const TemplateSnapshot& snapshot) {
  if (absl::IsUnavailable(snapshot.instances_read_error)) return snapshot.instances_read_error;
  for (const auto& [role, blocking_bindings] : snapshot.blocking_bindings) {
    if (absl::IsUnavailable(blocking_bindings.read_error)) return blocking_bindings.read_error;
  }
  return absl::OkStatus();
}

// Whether the condition reports failed or unfinished writes.
bool ReportsWrites(const ScopeTemplate& of) {
  const ConditionProto* templated =
      FindFalse(of.status().conditions(), kTemplated, of.metadata().generation());
  return templated != nullptr && templated->reason() != kRevocationPending;
}

// A created binding does not prevent any role, so only updates and deletions matter.
Predicate NoAdds() {
  return PredicateFrom({.add = [](const RawObject&) { return false; }, .update = {}, .remove = {}});
}

}  // namespace

TemplateReconciler::TemplateReconciler(const Component& component, Client<kScopeTemplate> client,
                                       std::shared_ptr<AwaitedBindings> awaited,
                                       TemplateOptions options)
    : component_(component),
      client_(std::move(client)),
      awaited_(std::move(awaited)),
      options_(options),
      slow_(options.max_slow_reconciles),
      portions_(component.controller_context.metrics.Counter(
          "mandate_scope_portions_total", "Reconciles that postponed writes to the next one",
          {{"identity", std::string(component.name())}})),
      deferred_(component.controller_context.metrics.Counter(
          "mandate_scope_slow_reconciles_deferred_total",
          "Reconciles that waited because their earlier "
          "writes, and those of other objects, were slow",
          {{"identity", std::string(component.name())}})) {}

Result TemplateReconciler::Later(SlowObjects::Turn& turn) {
  deferred_.Increment();
  return turn.RequeueLater();
}

RoleWriter TemplateReconciler::WriterFor(const CallContext& context, Portion& portion) {
  return RoleWriter(
      context,
      {.client = client_, .fixes = fixes_, .clock = component_.clock(), .portion = portion});
}

absl::StatusOr<Result> TemplateReconciler::Reconcile(const CallContext& context,
                                                     const Request& request) {
  SlowObjects::Turn turn(slow_, request.key, component_.clock().TimeNow());
  if (turn.still_waiting()) return Later(turn);
  auto scope_template = component_.cache().Get<ScopeTemplate>(context, request.key);
  if (absl::IsNotFound(scope_template.status())) {
    rounds_.Forget(request.key);
    awaited_->Forget(request.key);
    unavailable_.Forget(request.key);
    turn.End(/*slow=*/false);
    return Result{};
  }
  RETURN_IF_ERROR(scope_template.status());
  if (IsOrphaning(scope_template->metadata())) return Result{};
  absl::StatusOr<TemplateSnapshot> read;
  const bool current = awaited_->TrackUntilChanged(request.key, [&] {
    read = ReadTemplateSnapshot(context, component_.cache(), *scope_template);
    return read.ok() ? BlockingBindingsIn(*read) : AwaitedBindings::ByRole();
  });
  if (!read.ok()) {
    ReportUnread(context, read.status(), *scope_template);
    return read.status();
  }
  TemplateSnapshot& snapshot = *read;
  const absl::Status unavailable = UnavailableIn(snapshot);
  const bool may_report =
      unavailable_.MayReport(request.key, unavailable, component_.clock().TimeNow());

  const TemplatePlan plan = PlanTemplate(snapshot);
  const auto& meta = snapshot.scope_template.metadata();
  const auto report = [&](const CallContext& in_time, const std::vector<std::string>& failures,
                          const std::vector<std::string>& removal_failures, bool unfinished) {
    return ReportConditions(
        in_time, component_, client_, snapshot.scope_template,
        TemplateConditions(snapshot.scope_template, plan, failures, removal_failures, unfinished),
        {kTemplated});
  };
  const std::string of = StrCat(meta.uid(), " ", meta.generation());
  const auto is_current = [&] { return IsCurrent(component_.cache(), snapshot.scope_template); };
  const auto tell = [&](const CallContext& brief) {
    if (ReportsWrites(snapshot.scope_template)) return absl::OkStatus();
    return report(brief, {}, {}, /*unfinished=*/true);
  };
  if (DeferIfSlow(context, component_.clock(), options_.portion, turn, WriteKindOf(plan), tell)) {
    const TemplatePlan early =
        RevocationsBeforeTurn(plan, [&](const ObjectKey& role) { return turn.IsQuick(role); });
    if (early.writes() > 0 && turn.TakeEarly()) {
      WriteRound round;
      round.of = of;
      Portion portion(component_.clock(), options_.portion, round, /*patient=*/false);
      portion.StopWhen([&] { return portion.slow() || !is_current(); });
      WriterFor(context, portion).CarryOut(early);
      turn.EndEarly(portion.slow(), portion.tried_targets());
    }
    return Later(turn);
  }
  WriteRound round = rounds_.Take(request.key, of);
  Portion portion(component_.clock(), options_.portion, round, turn.has_slot());
  portion.StopWhen([&] { return !is_current(); });
  WriterFor(context, portion).CarryOut(plan);
  absl::Status reported;
  // Each portion of a round has its own failures: those of the first and the last are reported.
  if (may_report && (!portion.unfinished() || !ReportsWrites(snapshot.scope_template))) {
    reported = portion.Report(context, [&](const CallContext& in_time) {
      return report(in_time, portion.failures(), portion.removal_failures(), portion.unfinished());
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
  for (const auto& [role, blocking_bindings] : snapshot.blocking_bindings) {
    RETURN_IF_ERROR(NotBefore(*result, blocking_bindings.read_error));
  }
  if (!current) RequeueWithin(kReadAgain, *result);
  // No event of an unreadable instance is mapped to the templates that it may reference.
  const bool unknown = snapshot.referenced == Referenced::kMaybe;
  if (unknown || !plan.pending.empty() || !plan.problems.empty()) {
    RequeueWithin(kLongestRetry, *result);
  }
  return result;
}

void TemplateReconciler::ReportUnread(const CallContext& context, const absl::Status& why,
                                      ScopeTemplate& of) {
  const absl::Time now = component_.clock().TimeNow();
  if (!IsReadUnavailable(why) || !unavailable_.MayReport({"", of.metadata().name()}, why, now)) {
    return;
  }
  const CallContext brief = context.WithDeadline(now + options_.portion.max_time);
  const std::string problem = StrCat("its ClusterRoles cannot be read: ", AsStd(why.message()));
  // The reconcile has already failed and will be retried.
  ReportConditions(brief, component_, client_, of, TemplateConditions(of, {}, {problem}, {}, false),
                   {kTemplated})
      .IgnoreError();
}

absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateController(const Component& component) {
  return MakeTemplateControllerWith(component, TemplateOptions());
}

absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateControllerWith(
    const Component& component, const TemplateOptions& options) {
  ASSIGN_OR_RETURN(auto client, Client<kScopeTemplate>::Create(component.client));
  CacheView& cache = component.cache();
  RETURN_IF_ERROR(DeclareTemplateIndexes(cache));
  const auto awaited = std::make_shared<AwaitedBindings>();
  return ControllerBuilder<kScopeTemplate>(component.controller_context)
      .Named("scope-template")
      .WithOptions({.max_concurrent_reconciles = options.max_concurrent_reconciles,
                    .queue = {.max_delay = kLongestRetry}})
      .For<ScopeTemplate>()
      .Owns<ClusterRole>()
      // Roles are matched by name, including those that do not belong to a template.
      .Watches<ClusterRole>([&cache](const ClusterRole& role) {
        return TemplatesOfRole(cache, role.metadata().name());
      })
      .Watches<ScopeInstance>(
          [](const ScopeInstance& instance) {
            return std::vector<Request>{{{"", instance.spec().scopetemplatename()}}};
          },
          GenerationChanged())
      .Watches<RoleBinding>(
          [&cache, awaited](const RoleBinding& binding) {
            return TemplatesThatWait(cache, *awaited, binding);
          },
          NoAdds())
      .Watches<ClusterRoleBinding>(
          [&cache, awaited](const ClusterRoleBinding& binding) {
            return TemplatesThatWait(cache, *awaited, binding);
          },
          NoAdds())
      .Complete(
          std::make_unique<TemplateReconciler>(component, std::move(client), awaited, options));
}

}  // namespace mandate::scope
