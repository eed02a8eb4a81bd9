#include "controllers/scope/instance_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/target.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

bool Exists(const Binding& binding) { return !binding.object.metadata().has_deletiontimestamp(); }

// Why the role may not be bound (yet); empty when it may. Only a role that is the template's, with
// the rules that the template has now, is ever bound: `bind` is as strong as what it hands out.
std::string WhyNotBind(const InstanceSnapshot& snapshot, const RoleTemplate& role) {
  const auto found = snapshot.cluster_roles.find(role.name);
  if (found == snapshot.cluster_roles.end()) {
    return StrCat("ClusterRole \"", role.name, "\" is not there yet");
  }
  const rbacv1::ClusterRole& actual = found->second;
  if (!BelongsTo(actual.metadata(), snapshot.scope_template->metadata().uid(), kTemplateUidLabel)) {
    return StrCat("ClusterRole \"", role.name, "\" does not belong to ScopeTemplate \"",
                  snapshot.scope_template->metadata().name(), "\": it is not bound");
  }
  if (!SameRules(role.rules, actual.rules()) || actual.has_aggregationrule()) {
    return StrCat("ClusterRole \"", role.name, "\" is not yet as ScopeTemplate \"",
                  snapshot.scope_template->metadata().name(), "\" says");
  }
  return "";
}

// Compares what is there with what is wanted; both by (namespace, name).
class Differ {
 public:
  Differ(const InstanceSnapshot& snapshot, InstancePlan& plan) : snapshot_(snapshot), plan_(plan) {
    for (const Binding& binding : snapshot.bindings) {
      if (BelongsToInstance(binding, snapshot.instance)) {
        actual_[binding.key] = &binding;
      } else if (BelongsToFormer(binding, snapshot.instance.metadata().name(),
                                 snapshot.instance.metadata().uid()) &&
                 Exists(binding)) {
        // Garbage collection would do it too, but a revocation does not wait for that.
        plan.remove.push_back(binding);
      }
    }
  }

  // `may_bind` false: what is there stays, nothing new is granted.
  void Want(const RoleTemplate& role, std::string_view ns, bool may_bind) {
    Binding desired = DesiredBinding(snapshot_.instance, role, ns);
    wanted_.insert(desired.key);
    const auto found = actual_.find(desired.key);
    if (found == actual_.end()) {
      if (may_bind) plan_.create.push_back(std::move(desired));
      return;
    }
    const Binding& actual = *found->second;
    if (!Exists(actual) || IsAsDesired(snapshot_.instance, desired, actual)) return;
    if (!SameRoleRef(desired, actual)) {
      // The binding grants a role that is not wanted: it goes even when the right one must wait.
      if (may_bind) {
        plan_.replace.emplace_back(actual, std::move(desired));
      } else {
        plan_.remove.push_back(actual);
      }
    } else if (may_bind) {
      desired.object.mutable_metadata()->set_uid(actual.object.metadata().uid());
      plan_.mend.push_back(std::move(desired));
    }
  }

  // Whatever is there and was not wanted.
  void RemoveTheRest() {
    for (const auto& [key, binding] : actual_) {
      if (!wanted_.contains(key) && Exists(*binding)) plan_.remove.push_back(*binding);
    }
  }

  // What is there outside of `target`, when what is wanted inside is not known.
  void RemoveOutside(const Target& target) {
    for (const auto& [key, binding] : actual_) {
      const bool outside =
          !target.cluster && !binding->in_cluster() && !target.namespaces.contains(key.ns);
      if (outside && Exists(*binding)) plan_.remove.push_back(*binding);
    }
  }

 private:
  const InstanceSnapshot& snapshot_;
  InstancePlan& plan_;
  std::map<ObjectKey, const Binding*> actual_;
  std::set<ObjectKey> wanted_;
};

// Whether the template controller found the template, as it is now, to be wrong.
const ConditionProto* FailedCondition(const ScopeTemplate& scope_template) {
  const ConditionProto* templated = FindCondition(scope_template.status().conditions(), kTemplated);
  const bool failed = templated != nullptr && templated->status() == "False" &&
                      templated->observedgeneration() == scope_template.metadata().generation();
  return failed ? templated : nullptr;
}

// "nodes, persistentvolumes" of a role's rules that mean nothing in a RoleBinding; false when it is
// not known of some resource.
bool CollectInert(const RoleTemplate& role, const ScopeOfResource& scope_of,
                  std::set<std::string>& inert) {
  bool known = true;
  for (const auto& rule : role.rules) {
    inert.insert(rule.nonresourceurls().begin(), rule.nonresourceurls().end());
    for (const std::string& group : rule.apigroups()) {
      for (const std::string& resource : rule.resources()) {
        const std::string plural = resource.substr(0, resource.find('/'));
        // A RoleBinding in namespace x does grant `get` of the Namespace x itself.
        if (group.empty() && plural == "namespaces") continue;
        if (!scope_of) continue;
        const absl::StatusOr<Scope> scope = scope_of(group, plural);
        if (!scope.ok() && !absl::IsNotFound(scope.status())) known = false;
        if (scope.ok() && *scope == Scope::kCluster) {
          inert.insert(group.empty() ? resource : StrCat(resource, ".", group));
        }
      }
    }
  }
  return known;
}

void PlanRoles(const InstanceSnapshot& snapshot, const std::vector<RoleTemplate>& roles,
               const Target& target, Differ& differ, InstancePlan& plan) {
  std::set<std::string> inert;
  for (const RoleTemplate& role : roles) {
    const std::string why_not = WhyNotBind(snapshot, role);
    if (!why_not.empty()) {
      plan.reason = kWaitingForClusterRoles;
      plan.problems.push_back(why_not);
    }
    if (target.cluster) {
      differ.Want(role, "", why_not.empty());
      continue;
    }
    for (const std::string& ns : target.namespaces) {
      differ.Want(role, ns, why_not.empty() && target.usable.contains(ns));
    }
    if (!CollectInert(role, snapshot.scope_of_resource, inert)) plan.effect_unknown = true;
  }
  if (!inert.empty()) {
    plan.without_effect = StrCat("bound in namespaces, these rules of ScopeTemplate \"",
                                 snapshot.scope_template->metadata().name(),
                                 "\" grant nothing, as they are for the whole cluster: ",
                                 Summarise({inert.begin(), inert.end()}));
  }
}

}  // namespace

InstancePlan PlanInstance(const InstanceSnapshot& snapshot) {
  InstancePlan plan;
  const absl::StatusOr<Target> target = ResolveTarget(snapshot.instance, snapshot.namespaces);
  if (!target.ok()) {
    plan.reason = kScopingFailed;
    plan.problems.emplace_back(target.status().message());
    return plan;
  }
  Differ differ(snapshot, plan);
  if (!snapshot.scope_template.has_value()) {
    plan.reason = kScopeTemplateNotFound;
    plan.problems.push_back(
        StrCat("ScopeTemplate \"", snapshot.instance.spec().scopetemplatename(), "\" not found"));
    differ.RemoveTheRest();
    return plan;
  }
  const auto roles = ExpandTemplate(*snapshot.scope_template);
  const ConditionProto* failed = FailedCondition(*snapshot.scope_template);
  if (!roles.ok() || failed != nullptr) {
    plan.reason = kScopeTemplateFailed;
    plan.problems.push_back(
        StrCat("ScopeTemplate \"", snapshot.scope_template->metadata().name(), "\" failed: ",
               failed != nullptr ? failed->message() : std::string(roles.status().message())));
    differ.RemoveOutside(*target);
    return plan;
  }
  PlanRoles(snapshot, *roles, *target, differ, plan);
  differ.RemoveTheRest();
  if (plan.reason.empty() && !target->problems.empty()) plan.reason = kScopingFailed;
  plan.problems.insert(plan.problems.end(), target->problems.begin(), target->problems.end());
  plan.grant_first = std::any_of(plan.remove.begin(), plan.remove.end(), [&](const Binding& b) {
    return b.in_cluster() != target->cluster;
  });
  return plan;
}

std::vector<DesiredCondition> InstanceConditions(const ScopeInstance& of, const InstancePlan& plan,
                                                 const std::vector<std::string>& failures) {
  std::vector<DesiredCondition> conditions;
  std::vector<std::string> all = plan.problems;
  all.insert(all.end(), failures.begin(), failures.end());
  if (all.empty()) {
    conditions.push_back(
        {kScoped, true, kScopingSuccessful,
         StrCat("ScopeInstance \"", of.metadata().name(), "\" reconciled successfully")});
  } else {
    conditions.push_back(
        {kScoped, false, plan.reason.empty() ? kScopingFailed : plan.reason, Summarise(all)});
  }
  const ConditionProto* said = FindCondition(of.status().conditions(), kEffective);
  if (plan.effect_unknown && said != nullptr) {
    conditions.push_back({kEffective, said->status() == "True", said->reason(), said->message(),
                          said->observedgeneration()});
  } else if (!plan.without_effect.empty()) {
    conditions.push_back({kEffective, false, kRulesWithoutEffect, plan.without_effect});
  }
  return conditions;
}

}  // namespace mandate::scope
