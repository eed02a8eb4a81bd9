#include "controllers/scope/template_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/summary.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;

std::string Quoted(const ClusterRole& role) {
  return StrCat("ClusterRole \"", role.metadata().name(), "\"");
}

// The bindings that prevent creating or widening the role; null if there are none.
const BlockingBindings* BlockingBindingsOf(const TemplateSnapshot& snapshot,
                                           const ClusterRole& role) {
  const auto found = snapshot.blocking_bindings.find(role.metadata().name());
  return found == snapshot.blocking_bindings.end() || found->second.none() ? nullptr
                                                                           : &found->second;
}

void PlanAbsentRole(const TemplateSnapshot& snapshot, ClusterRole desired, bool may_grant,
                    TemplatePlan& plan) {
  const BlockingBindings* blocking_bindings = BlockingBindingsOf(snapshot, desired);
  if (blocking_bindings != nullptr && !blocking_bindings->read_error.ok()) {
    plan.problems.push_back(
        StrCat(Quoted(desired), " is not created: the bindings that ",
               "refer to it cannot be read: ", AsStd(blocking_bindings->read_error.message())));
  } else if (blocking_bindings != nullptr) {
    plan.problems.push_back(
        StrCat(Quoted(desired),
               " is not created, because these bindings would grant its rules and no "
               "ScopeInstance of this ScopeTemplate wants them: ",
               Summarise(blocking_bindings->bindings), "; delete them"));
  } else if (snapshot.scope_template.metadata().has_deletiontimestamp()) {
    // Garbage collection will delete its roles. The existing ones still follow the template.
    plan.problems.push_back(
        StrCat(Quoted(desired), " is not created: the ScopeTemplate is being deleted"));
  } else if (snapshot.referenced == Referenced::kYes && may_grant) {
    plan.create.push_back(std::move(desired));
  }
}

// The role that may be written now. It has no new rules while subjects that are not the template's
// would get them, or while the template is invalid.
ClusterRole ForNow(const TemplateSnapshot& snapshot, ClusterRole desired, const ClusterRole& actual,
                   bool may_grant, TemplatePlan& plan) {
  if (!may_grant) return WithoutNewRules(std::move(desired), actual);
  const BlockingBindings* blocking_bindings = BlockingBindingsOf(snapshot, desired);
  if (blocking_bindings == nullptr || !HasNewRules(desired, actual)) return desired;
  if (!blocking_bindings->read_error.ok()) {
    plan.problems.push_back(
        StrCat(Quoted(desired), " gets no new rules: the bindings that ",
               "refer to it cannot be read: ", AsStd(blocking_bindings->read_error.message())));
  } else {
    plan.pending.push_back(
        StrCat(Quoted(desired),
               " gets no new rules until these bindings change; no ScopeInstance of this "
               "ScopeTemplate wants them as they are: ",
               Summarise(blocking_bindings->bindings)));
  }
  return WithoutNewRules(std::move(desired), actual);
}

void PlanPresentRole(const TemplateSnapshot& snapshot, ClusterRole desired,
                     const ClusterRole& actual, bool may_grant, TemplatePlan& plan) {
  const std::string foreign = WhyForeign(actual, snapshot.scope_template.metadata().uid());
  if (!foreign.empty()) {
    plan.problems.push_back(StrCat(
        Quoted(actual), " exists and does not belong to this ScopeTemplate (", foreign,
        "): it is neither changed nor bound; delete the ClusterRole if nothing else needs it, or "
        "choose another generateName"));
    return;
  }
  if (actual.metadata().has_deletiontimestamp()) {
    plan.problems.push_back(StrCat(Quoted(actual), " is being deleted (",
                                   FinalizersText(actual.metadata()),
                                   "): it is created again afterwards"));
    may_grant = false;
  }
  if (MayBeOrphaned(actual.metadata(), snapshot.scope_template.metadata())) {
    plan.problems.push_back(OrphanText(StrCat(Quoted(actual), " still exists")));
    return;
  }
  desired = ForNow(snapshot, std::move(desired), actual, may_grant, plan);
  if (!Difference(desired, actual).empty()) plan.fix.push_back({std::move(desired), actual});
}

// Plans a role that the template does not want, or does not want now.
void PlanUnwantedRole(const ScopeTemplate& owner, const ClusterRole& actual, TemplatePlan& plan) {
  const std::string foreign = WhyForeign(actual, owner.metadata().uid());
  if (!foreign.empty()) {
    // Only a name that is a function of the UID proves that the role was made for this template.
    if (!IsClusterRoleNameOf(owner.metadata().uid(), actual.metadata().name())) return;
    plan.pending.push_back(StrCat(Quoted(actual),
                                  " was created for this ScopeTemplate and is no "
                                  "longer wanted, but is not deleted, because it does not "
                                  "belong to the ScopeTemplate (",
                                  foreign, "); delete it by hand"));
    return;
  }
  if (MayBeOrphaned(actual.metadata(), owner.metadata())) {
    plan.pending.push_back(OrphanText(StrCat(Quoted(actual), " still exists")));
    return;
  }
  const bool deleted = actual.metadata().has_deletiontimestamp();
  if (!deleted) plan.remove.push_back(actual);
  if (!deleted && actual.metadata().finalizers().empty()) return;
  plan.pending.push_back(StrCat(Quoted(actual), " is no longer wanted and is being deleted: ",
                                FinalizersText(actual.metadata())));
  if (!deleted || actual.rules().empty()) return;
  // Its finalizers keep the object, but not its grants.
  ClusterRole emptied;
  *emptied.mutable_metadata()->mutable_labels() = actual.metadata().labels();
  emptied.mutable_metadata()->set_name(actual.metadata().name());
  SetControllerReference(owner.metadata(), KindOf<ScopeTemplate>::value,
                         *emptied.mutable_metadata());
  plan.fix.push_back({std::move(emptied), actual});
}

}  // namespace

TemplatePlan PlanTemplate(const TemplateSnapshot& snapshot) {
  TemplatePlan plan;
  const ScopeTemplate& owner = snapshot.scope_template;
  plan.remove_unchanged = owner.metadata().has_deletiontimestamp();
  const bool referenced = snapshot.referenced != Referenced::kNo;
  const TemplateRoles expanded = ExpandTemplate(owner);
  const bool may_grant = expanded.invalid.ok();
  if (!may_grant) plan.problems.emplace_back(expanded.invalid.message());
  if (!snapshot.instances_read_error.ok()) {
    plan.problems.push_back(
        StrCat("no ClusterRole is created or deleted: ScopeInstances cannot be ",
               "read: ", AsStd(snapshot.instances_read_error.message())));
  }

  std::map<std::string, const ClusterRole*> by_name;
  for (const auto& role : snapshot.cluster_roles) by_name[role.metadata().name()] = &role;
  std::set<std::string> wanted;
  if (referenced) {
    for (const RoleTemplate& role : expanded.roles) {
      wanted.insert(role.name);
      ClusterRole desired = DesiredClusterRole(owner, role);
      const auto found = by_name.find(role.name);
      if (found == by_name.end()) {
        PlanAbsentRole(snapshot, std::move(desired), may_grant, plan);
      } else {
        PlanPresentRole(snapshot, std::move(desired), *found->second, may_grant, plan);
      }
    }
  }
  for (const auto& [name, role] : by_name) {
    if (!wanted.contains(name)) PlanUnwantedRole(owner, *role, plan);
  }
  std::ranges::stable_partition(plan.fix, &RoleFix::revokes);
  return plan;
}

TemplatePlan RevocationsBeforeTurn(const TemplatePlan& plan,
                                   absl::FunctionRef<bool(const ObjectKey&)> is_quick) {
  TemplatePlan early;
  early.remove_unchanged = plan.remove_unchanged;
  for (const ClusterRole& role : plan.remove) {
    if (is_quick(KeyOf(role))) early.remove.push_back(role);
  }
  for (const RoleFix& fix : plan.fix) {
    if (!fix.revokes() || !is_quick(KeyOf(fix.actual))) continue;
    early.fix.push_back({WithoutNewRules(fix.desired, fix.actual), fix.actual});
  }
  return early;
}

std::vector<DesiredCondition> TemplateConditions(const ScopeTemplate& of, const TemplatePlan& plan,
                                                 const std::vector<std::string>& failures,
                                                 const std::vector<std::string>& removal_failures,
                                                 bool unfinished) {
  std::vector<std::string> all = plan.problems;
  all.insert(all.end(), failures.begin(), failures.end());
  const bool failed = !all.empty();
  all.insert(all.end(), plan.pending.begin(), plan.pending.end());
  all.insert(all.end(), removal_failures.begin(), removal_failures.end());
  if (all.empty() && unfinished) {
    return {{.type = kTemplated,
             .reason = kTemplatingInProgress,
             .message = "ClusterRoles are being written",
             .in_progress = true}};
  }
  if (all.empty()) {
    return {{kTemplated, true, kTemplatingSuccessful,
             StrCat("ScopeTemplate \"", of.metadata().name(), "\" successfully reconciled")}};
  }
  return {{kTemplated, false, failed ? kTemplatingFailed : kRevocationPending, Summarise(all)}};
}

}  // namespace mandate::scope
