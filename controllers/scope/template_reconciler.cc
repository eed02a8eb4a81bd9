#include "controllers/scope/template_reconciler.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "controllers/report.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/template_reader.h"
#include "manager/controller/builder_for.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

// The longest wait before a failed write is tried again: no event reports that an admission plugin
// has changed its mind.
constexpr absl::Duration kLongestRetry = absl::Minutes(1);
// Roles that are held by somebody else's finalizers or owner references: no event of theirs maps to
// the template once they have lost all that is ours.
constexpr absl::Duration kPendingRetry = absl::Minutes(1);
// A webhook may take long for each role of a template; others' rules are revoked meanwhile.
constexpr int kWorkers = 4;
// How soon a role is fixed again that did not become what was written; FixLimiter makes it slower.
constexpr absl::Duration kDifferenceRetry = absl::Seconds(1);

// Identifies the role and the state that a fix aims at. The same fix, needed again and again, is a
// fight with somebody else; a fix that follows an edit of the template has another key.
std::string FixKey(const RoleFix& fix) {
  std::string rules;
  for (const auto& rule : fix.desired.rules()) rules += rule.SerializeAsString();
  return StrCat(fix.actual.metadata().uid(), "/", absl::Hash<std::string>()(rules));
}

std::string Named(const ClusterRole& role) {
  return StrCat("ClusterRole ", role.metadata().name());
}

// What others put onto our role and what it must not have.
Removal Surplus(const ClusterRole& desired, const ClusterRole& actual) {
  Removal removal;
  if (actual.has_aggregationrule()) removal.fields.push_back({"aggregationRule"});
  // An apply without rules does not remove those that another field manager wrote.
  const bool emptied = desired.rules().empty() && !actual.rules().empty();
  if (emptied) removal.fields.push_back({"rules"});
  for (const auto& [key, value] : actual.metadata().labels()) {
    if (!desired.metadata().labels().contains(key)) {
      removal.fields.push_back({"metadata", "labels", key});
    }
  }
  return removal;
}

// The templates that ask for a ClusterRole of this name.
std::vector<Request> TemplatesOfRole(const CacheView& cache, std::string_view role) {
  std::vector<Request> requests;
  for (const auto& raw : cache.ListLastKnownBy(KindOf<ScopeTemplate>::value, {kByRoleName, role})) {
    requests.push_back({raw->Key()});
  }
  return requests;
}

// The same because of a binding that was changed or deleted: it matters only to a template whose
// role is absent.
template <class T>
std::vector<Request> TemplatesThatWait(const CacheView& cache, const T& binding) {
  const std::string& role = binding.roleref().name();
  const bool is_there = cache.GetRaw(WithoutWaiting(), KindOf<ClusterRole>::value, {"", role}).ok();
  return is_there ? std::vector<Request>() : TemplatesOfRole(cache, role);
}

// Bindings that are made do not let a role be made.
Predicate NoAdds() {
  return Funcs({.add = [](const RawObject&) { return false; }, .update = {}, .remove = {}});
}

}  // namespace

TemplateReconciler::TemplateReconciler(const Component& component, Client<kScopeTemplate> client)
    : component_(component), client_(std::move(client)) {}

absl::StatusOr<Result> TemplateReconciler::Reconcile(const CallContext& context,
                                                     const Request& request) {
  auto scope_template = component_.cache().Get<ScopeTemplate>(context, request.key);
  if (absl::IsNotFound(scope_template.status())) {
    denied_.Reset(request.key);
    return Result{};
  }
  RETURN_IF_ERROR(scope_template.status());
  // What it owns goes with it, by garbage collection.
  if (scope_template->metadata().has_deletiontimestamp()) return Result{};
  ASSIGN_OR_RETURN(const TemplateSnapshot snapshot,
                   ReadTemplateSnapshot(context, component_.cache(), *std::move(scope_template)));

  const TemplatePlan plan = PlanTemplate(snapshot);
  Progress progress;
  CarryOut(context, plan, progress);
  RETURN_IF_ERROR(
      ReportConditions(context, component_, client_, snapshot.scope_template,
                       TemplateConditions(snapshot.scope_template, plan, progress.log.failures(),
                                          progress.log.removal_failures()),
                       {kTemplated}));

  if (!progress.log.forbidden()) denied_.Reset(request.key);
  ASSIGN_OR_RETURN(Result result,
                   progress.log.ToResult(progress.log.forbidden() ? denied_.Next(request.key)
                                                                  : absl::ZeroDuration()));
  const auto again = [&](absl::Duration after) {
    if (after == absl::ZeroDuration()) return;
    result.requeue_after = result.requeue_after == absl::ZeroDuration()
                               ? after
                               : std::min(result.requeue_after, after);
  };
  again(progress.wait);
  if (progress.log.differs() && progress.wait == absl::ZeroDuration()) again(kDifferenceRetry);
  // No event of an instance that cannot be read maps to the templates that it may reference.
  const bool unknown = snapshot.referenced == Referenced::kMaybe;
  if (unknown || !plan.pending.empty() || !plan.problems.empty()) again(kPendingRetry);
  return result;
}

void TemplateReconciler::CarryOut(const CallContext& context, const TemplatePlan& plan,
                                  Progress& progress) {
  WriteLog& log = progress.log;
  bool removed = false;
  const auto remove = [&] {
    if (std::exchange(removed, true)) return;
    for (const ClusterRole& role : plan.remove) {
      log.AddRemoval(
          Named(role), role.metadata().name(),
          client_.Delete<ClusterRole>(context, KeyOf(role), {.uid = role.metadata().uid()}));
    }
  };
  // A role that was renamed is made under its new name before the old one goes, unless a write
  // fails: no revocation waits for another grant then.
  for (const RoleFix& fix : plan.fix) {
    Fix(context, fix, progress);
    if (!log.failures().empty()) remove();
  }
  for (const ClusterRole& role : plan.create) {
    const auto made = client_.Ensure(context, role, static_cast<const ClusterRole*>(nullptr));
    log.Add(Named(role), made);
    if (!made.ok()) {
      remove();
      continue;
    }
    const std::string difference = Difference(role, *made);
    if (!difference.empty()) log.AddDifference(Named(role), difference);
  }
  remove();
}

void TemplateReconciler::Fix(const CallContext& context, const RoleFix& fix, Progress& progress) {
  const absl::Duration wait = fixes_.Take(FixKey(fix), component_.clock().TimeNow());
  if (wait > absl::ZeroDuration()) {
    progress.wait = progress.wait == absl::ZeroDuration() ? wait : std::min(progress.wait, wait);
    progress.log.AddDifference(Named(fix.actual), Difference(fix.desired, fix.actual));
    return;
  }
  absl::StatusOr<ClusterRole> is = fix.actual;
  // First, as the fences do not let a role with such a label be written.
  if (const Removal surplus = Surplus(fix.desired, fix.actual); !surplus.fields.empty()) {
    is = client_.RemoveFields(context, fix.actual, surplus);
  }
  if (is.ok() && !Difference(fix.desired, *is).empty()) {
    const ClusterRole observed = *is;
    is = client_.Ensure(context, fix.desired, &observed);
  }
  progress.log.Add(Named(fix.actual), is);
  if (!is.ok()) return;
  const std::string difference = Difference(fix.desired, *is);
  if (!difference.empty()) progress.log.AddDifference(Named(fix.actual), difference);
}

absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateController(const Component& component) {
  ASSIGN_OR_RETURN(auto client, Client<kScopeTemplate>::Create(component.client));
  CacheView& cache = component.cache();
  RETURN_IF_ERROR(DeclareTemplateIndexes(cache));
  return BuilderFor<kScopeTemplate>(component.runtime)
      .Named("scope-template")
      .With({.max_concurrent_reconciles = kWorkers, .queue = {.max_delay = kLongestRetry}})
      .For<ScopeTemplate>()
      .Owns<ClusterRole>()
      // Also roles that are not, or no longer, a template's: their names decide.
      .Watches<ClusterRole>([&cache](const ClusterRole& role) {
        return TemplatesOfRole(cache, role.metadata().name());
      })
      .Watches<ScopeInstance>(
          [](const ScopeInstance& instance) {
            return std::vector<Request>{{{"", instance.spec().scopetemplatename()}}};
          },
          GenerationChanged())
      .Watches<RoleBinding>(
          [&cache](const RoleBinding& binding) { return TemplatesThatWait(cache, binding); },
          NoAdds())
      .Watches<ClusterRoleBinding>(
          [&cache](const ClusterRoleBinding& binding) { return TemplatesThatWait(cache, binding); },
          NoAdds())
      .Complete(std::make_unique<TemplateReconciler>(component, std::move(client)));
}

}  // namespace mandate::scope
