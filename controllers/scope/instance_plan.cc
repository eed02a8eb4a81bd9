#include "controllers/scope/instance_plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "controllers/scope/binding_differ.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/summary.h"
#include "controllers/scope/target.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;

// The failed condition that the template controller reported about the template's present
// generation. Null if it reported success, nothing yet, or work in progress; then the state of the
// roles decides.
const ConditionProto* FailedCondition(const ScopeTemplate& of) {
  const ConditionProto* failed =
      FindFalse(of.status().conditions(), kTemplated, of.metadata().generation());
  return failed != nullptr && failed->reason() == kTemplatingInProgress ? nullptr : failed;
}

// The state of a role. `bind` is as strong as the role, so that a role is bound only if it is the
// template's and has the rules that the template has now.
struct RoleState {
  bool may_bind = false;
  // The template's controller will write the role soon, so its absence is not a problem.
  bool awaited = false;
  // The role is not the template's: bindings to it are revoked.
  bool foreign = false;
  std::string problem;  // empty if may_bind
};

RoleState StateOf(const InstanceSnapshot& snapshot, const RoleTemplate& role) {
  const ScopeTemplate& of = *snapshot.scope_template;
  const std::string quoted = StrCat("ClusterRole \"", role.name, "\"");
  const auto found = snapshot.cluster_roles.find(role.name);
  if (found == snapshot.cluster_roles.end()) {
    const absl::Status& unread = snapshot.roles_read_error;
    return {.awaited = unread.ok(),
            .problem = unread.ok() ? quoted + " does not exist yet"
                                   : StrCat(quoted, " cannot be read: ", AsStd(unread.message()))};
  }
  const ClusterRole& actual = found->second;
  const std::string foreign = WhyForeign(actual, of.metadata().uid());
  if (!foreign.empty()) {
    return {.foreign = true,
            .problem = StrCat(quoted, " does not belong to ScopeTemplate \"", of.metadata().name(),
                              "\" (", foreign, "): it is not bound")};
  }
  if (actual.metadata().has_deletiontimestamp()) return {.problem = quoted + " is being deleted"};
  const std::string difference = Difference(DesiredClusterRole(of, role), actual);
  if (!difference.empty()) {
    return {.awaited = true,
            .problem = StrCat(quoted, " does not match ScopeTemplate \"", of.metadata().name(),
                              "\" yet: it differs in ", difference)};
  }
  return {.may_bind = true, .problem = ""};
}

// The plan if the template can be read, so that the wanted bindings are known.
class RolesPlan {
 public:
  RolesPlan(const InstanceSnapshot& snapshot, const Target& target, InstancePlan& plan)
      : snapshot_(snapshot), target_(target), plan_(plan), differ_(snapshot, plan) {}

  BindingDiffer& differ() { return differ_; }

  // Without `may_grant` only revocations are planned.
  void Plan(const std::vector<RoleTemplate>& roles, bool may_grant) {
    for (const RoleTemplate& role : roles) {
      const RoleState state = StateOf(snapshot_, role);
      if (!state.problem.empty()) {
        if (plan_.reason.empty()) plan_.reason = kWaitingForClusterRoles;
        plan_.problems.push_back(state.problem);
        if (state.awaited) ++plan_.waiting_problems;
      }
      // Each role of a valid template has subjects.
      if (state.foreign || role.subjects->empty()) continue;
      kept_[role.name] = &role;
      if (may_grant) WantEverywhere(role, state.may_bind);
    }
    differ_.RevokeUnwantedExcept([this](const Binding& binding) { return Keep(binding); });
  }

 private:
  void WantEverywhere(const RoleTemplate& role, bool may_bind) {
    if (target_.cluster) return differ_.Want(role, "", may_bind);
    for (const std::string& ns : target_.usable) differ_.Want(role, ns, may_bind);
    for (const std::string& ns : target_.terminating) differ_.Want(role, ns, false);
  }

  // Whether a binding may be wanted although Want() was not called for it. This is possible if
  // nothing may be granted, and in namespaces whose existence is unknown.
  bool Keep(const Binding& binding) {
    const auto role = kept_.find(binding.object.roleref().name());
    if (role == kept_.end() || !target_.MayContain(binding.key.ns)) return false;
    const Binding desired = DesiredBinding(snapshot_.instance, *role->second, binding.key.ns);
    if (desired.key != binding.key || !SameRoleRef(desired, binding)) return false;
    differ_.Want(*role->second, binding.key.ns, false);
    return true;
  }

  const InstanceSnapshot& snapshot_;
  const Target& target_;
  InstancePlan& plan_;
  BindingDiffer differ_;
  std::map<std::string, const RoleTemplate*> kept_;
};

// Whether the new grants replace revoked ones: a ClusterRoleBinding replaces RoleBindings, or the
// other way round, or a binding replaces one of another role in the same namespace.
bool Moves(const InstancePlan& plan, const Target& target) {
  std::set<std::string> granted;
  for (const NewBinding& binding : plan.create) granted.insert(binding.key.ns);
  return std::any_of(plan.remove.begin(), plan.remove.end(), [&](const Binding& binding) {
    return binding.in_cluster() != target.cluster || granted.contains(binding.key.ns);
  });
}

// The reason for which the instance cannot have all requested bindings; empty if it can.
std::string ExcessOf(const std::vector<RoleTemplate>& roles, const Target& target,
                     const InstancePlanOptions& options) {
  const size_t places = target.cluster ? 1 : target.usable.size();
  const std::string product =
      target.cluster ? StrCat("(", roles.size(), " ClusterRoles in the whole cluster)")
                     : StrCat("(", roles.size(), " ClusterRoles in ", places, " namespaces)");
  const size_t bindings = roles.size() * places;
  if (bindings > options.max_bindings) {
    return StrCat("the ScopeInstance needs ", bindings, " bindings ", product,
                  ", but the limit is ", options.max_bindings,
                  "; no further bindings are created. Use several ScopeInstances, or a "
                  "ScopeTemplate with fewer ClusterRoles");
  }
  size_t subject_bytes = 0;
  for (const RoleTemplate& role : roles) {
    for (const auto& subject : *role.subjects) subject_bytes += places * subject.ByteSizeLong();
  }
  if (subject_bytes > options.max_subject_bytes) {
    return StrCat("the subjects of all bindings ", product, " have ", subject_bytes,
                  " bytes, but the limit of a ScopeInstance is ", options.max_subject_bytes,
                  "; no further bindings are created. Use groups as subjects, or several "
                  "ScopeInstances");
  }
  return "";
}

void FailTemplate(const InstanceSnapshot& snapshot, const absl::Status& why, InstancePlan& plan) {
  plan.reason = kScopeTemplateFailed;
  plan.problems.push_back(StrCat("ScopeTemplate \"", snapshot.scope_template->metadata().name(),
                                 "\" failed: ", AsStd(why.message())));
}

void PlanKnownRoles(const InstanceSnapshot& snapshot, TemplateRoles expanded, const Target& target,
                    const InstancePlanOptions& options, RolesPlan& planner, InstancePlan& plan) {
  std::vector<RoleTemplate>& roles = expanded.roles;
  const std::string& name = snapshot.scope_template->metadata().name();
  bool may_grant =
      target.invalid.ok() && expanded.invalid.ok() && snapshot.bindings_read_error.ok();
  if (!expanded.invalid.ok()) {
    FailTemplate(snapshot, expanded.invalid, plan);
  } else if (const ConditionProto* failed = FailedCondition(*snapshot.scope_template);
             failed != nullptr) {
    // An unwanted role that cannot be deleted does not prevent bindings of the others.
    const bool pending = failed->reason() == kRevocationPending;
    may_grant = may_grant && pending;
    if (!pending && plan.reason.empty()) plan.reason = kScopeTemplateFailed;
    (pending ? plan.pending : plan.problems)
        .push_back(
            StrCat("ScopeTemplate \"", name, pending ? "\": " : "\" failed: ", failed->message()));
  }
  if (std::string excess = ExcessOf(roles, target, options); !excess.empty()) {
    plan.exceeds_limit = true;
    may_grant = false;
    if (plan.reason.empty()) plan.reason = kScopingFailed;
    plan.problems.push_back(std::move(excess));
  }
  planner.Plan(roles, may_grant);
  if (target.cluster) return;
  plan.in_namespaces = std::move(roles);
  plan.effect.unknown = true;
}

InstancePlan Finish(InstancePlan plan, const Target& target) {
  std::stable_partition(plan.fix.begin(), plan.fix.end(),
                        [](const BindingFix& fix) { return fix.revokes(); });
  plan.grant_first = Moves(plan, target);
  if (!plan.pending.empty()) plan.reason = kRevocationPending;
  return plan;
}

}  // namespace

absl::StatusOr<TemplateRoles> RolesOf(const InstanceSnapshot& snapshot) {
  RETURN_IF_ERROR(snapshot.template_read_error);
  return ExpandTemplate(*snapshot.scope_template);
}

InstancePlan PlanInstance(const InstanceSnapshot& snapshot, const InstancePlanOptions& options) {
  InstancePlan plan;
  const Target target =
      ResolveTarget(snapshot.instance, snapshot.namespaces, snapshot.namespaces_read_error);
  RolesPlan planner(snapshot, target, plan);
  if (!snapshot.bindings_read_error.ok()) {
    plan.problems.push_back(
        StrCat("its bindings cannot be read: ", AsStd(snapshot.bindings_read_error.message())));
  }
  if (snapshot.instance.metadata().has_deletiontimestamp()) {
    plan.reason = kScopeInstanceTerminating;
    plan.problems.push_back("the ScopeInstance is being deleted: what it granted is revoked");
    plan.remove_unchanged = true;
    planner.differ().RevokeUnwanted();
    return Finish(std::move(plan), target);
  }
  if (!target.invalid.ok()) {
    plan.reason = kScopingFailed;
    plan.problems.emplace_back(target.invalid.message());
  }
  if (!snapshot.scope_template.has_value()) {
    plan.reason = kScopeTemplateNotFound;
    plan.problems.push_back(
        StrCat("ScopeTemplate \"", snapshot.instance.spec().scopetemplatename(), "\" not found"));
    planner.differ().RevokeUnwanted();
    return Finish(std::move(plan), target);
  }
  auto roles = RolesOf(snapshot);
  if (roles.ok()) {
    PlanKnownRoles(snapshot, *std::move(roles), target, options, planner, plan);
  } else {
    // The template's roles are unknown. Known are the namespaces where the instance wants no role
    // at all, and some roles that are not the template's. These may belong to another template,
    // which creates its role again only when no such binding refers to it.
    FailTemplate(snapshot, roles.status(), plan);
    const std::string& uid = snapshot.scope_template->metadata().uid();
    planner.differ().RevokeUnwantedExcept([&](const Binding& b) {
      if (!target.MayContain(b.key.ns)) return false;
      if (uid.empty()) return true;  // the owners of the roles are unknown, too
      const auto role = snapshot.cluster_roles.find(b.object.roleref().name());
      if (role == snapshot.cluster_roles.end()) return !snapshot.roles_read_error.ok();
      return WhyForeign(role->second, uid).empty();
    });
  }
  if (plan.reason.empty() && !target.problems.empty()) plan.reason = kScopingFailed;
  plan.problems.insert(plan.problems.end(), target.problems.begin(), target.problems.end());
  return Finish(std::move(plan), target);
}

InstancePlan PlanAbsentInstance(std::string_view name, std::vector<Binding> bindings) {
  InstanceSnapshot snapshot;  // without a UID it owns nothing
  snapshot.instance.mutable_metadata()->set_name(std::string(name));
  snapshot.bindings = std::move(bindings);
  InstancePlan plan;
  plan.remove_unchanged = true;
  BindingDiffer(snapshot, plan).RevokeUnwanted();
  return plan;
}

InstancePlan RevocationsBeforeTurn(const InstancePlan& plan,
                                   absl::FunctionRef<bool(const ObjectKey&)> is_quick) {
  InstancePlan early;
  early.remove_unchanged = plan.remove_unchanged;
  for (const Binding& binding : plan.remove) {
    if (is_quick(binding.key)) early.remove.push_back(binding);
  }
  for (const auto& [actual, desired] : plan.replace) {
    if (is_quick(actual.key)) early.remove.push_back(actual);
  }
  for (const BindingFix& fix : plan.fix) {
    if (!fix.revokes() || !is_quick(fix.actual.key)) continue;
    early.fix.push_back({WithoutNewSubjects(fix.desired, fix.actual), fix.actual});
  }
  return early;
}

void QuickFirst(absl::FunctionRef<bool(const ObjectKey&)> is_quick, InstancePlan& plan) {
  std::ranges::stable_partition(plan.remove, is_quick, &Binding::key);
  std::ranges::stable_partition(plan.replace, is_quick,
                                [](const auto& pair) { return pair.first.key; });
  const auto grants = std::ranges::find_if_not(plan.fix, &BindingFix::revokes);
  std::stable_partition(plan.fix.begin(), grants,
                        [&](const BindingFix& fix) { return is_quick(fix.actual.key); });
}

std::vector<DesiredCondition> InstanceConditions(const ScopeInstance& of, const InstancePlan& plan,
                                                 const std::vector<std::string>& failures,
                                                 bool unfinished) {
  std::vector<DesiredCondition> conditions;
  std::vector<std::string> all = plan.pending;
  all.insert(all.end(), plan.problems.begin(), plan.problems.end());
  all.insert(all.end(), failures.begin(), failures.end());
  if (!all.empty()) {
    conditions.push_back({.type = kScoped,
                          .reason = plan.reason.empty() ? kScopingFailed : plan.reason,
                          .message = Summarise(all),
                          .in_progress = plan.waiting_problems == all.size()});
  } else if (unfinished) {
    conditions.push_back({.type = kScoped,
                          .reason = kScopingInProgress,
                          .message = "bindings are being written",
                          .in_progress = true});
  } else {
    conditions.push_back(
        {kScoped, true, kScopingSuccessful,
         StrCat("ScopeInstance \"", of.metadata().name(), "\" reconciled successfully")});
  }
  const ConditionProto* reported = FindCondition(of.status().conditions(), kEffective);
  if (plan.effect.unknown && reported != nullptr) {
    conditions.push_back({kEffective, reported->status() == "True", reported->reason(),
                          reported->message(), reported->observedgeneration()});
  } else if (!plan.effect.ineffective.empty()) {
    conditions.push_back({kEffective, false, kRulesWithoutEffect,
                          StrCat("these rules of ScopeTemplate \"", of.spec().scopetemplatename(),
                                 "\" have no effect in a RoleBinding, because they are for "
                                 "cluster-scoped resources or URLs: ",
                                 Summarise(plan.effect.ineffective))});
  }
  return conditions;
}

}  // namespace mandate::scope
