#include "controllers/scope/template_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/role_template.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

constexpr size_t kMaxProblems = 10;

rbacv1::ClusterRole DesiredRole(const ScopeTemplate& owner, const RoleTemplate& role) {
  rbacv1::ClusterRole result;
  auto& meta = *result.mutable_metadata();
  meta.set_name(role.name);
  (*meta.mutable_labels())[std::string(kTemplateUidLabel)] = owner.metadata().uid();
  (*meta.mutable_labels())[std::string(kGenerateNameLabel)] =
      GenerateNameLabelValue(role.generate_name);
  SetControllerReference(owner.metadata(), KindOf<ScopeTemplate>::value, meta);
  for (const auto& rule : role.rules) *result.add_rules() = rule;
  return result;
}

bool HasLabels(const ObjectMetaProto& object, const ObjectMetaProto& wanted) {
  return std::all_of(wanted.labels().begin(), wanted.labels().end(), [&](const auto& label) {
    const auto found = object.labels().find(label.first);
    return found != object.labels().end() && found->second == label.second;
  });
}

bool IsAsDesired(const ScopeTemplate& owner, const RoleTemplate& role,
                 const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual) {
  return SameRules(role.rules, actual.rules()) && !actual.has_aggregationrule() &&
         HasLabels(actual.metadata(), desired.metadata()) &&
         HasControllerReference(owner.metadata(), KindOf<ScopeTemplate>::value, actual.metadata());
}

void PlanRole(const ScopeTemplate& owner, const RoleTemplate& role,
              const std::map<std::string, const rbacv1::ClusterRole*>& by_name,
              TemplatePlan& plan) {
  rbacv1::ClusterRole desired = DesiredRole(owner, role);
  const auto found = by_name.find(role.name);
  if (found == by_name.end()) {
    plan.create.push_back(std::move(desired));
    return;
  }
  const rbacv1::ClusterRole& actual = *found->second;
  if (!BelongsTo(actual.metadata(), owner.metadata().uid(), kTemplateUidLabel)) {
    plan.problems.push_back(StrCat(
        "ClusterRole \"", role.name,
        "\" exists and does not belong to this ScopeTemplate: it is neither changed nor bound; "
        "choose another generateName (one that ends in \"-\" is always free)"));
    return;
  }
  if (!actual.metadata().has_deletiontimestamp() && !IsAsDesired(owner, role, desired, actual)) {
    desired.mutable_metadata()->set_uid(actual.metadata().uid());
    plan.mend.push_back(std::move(desired));
  }
}

}  // namespace

TemplatePlan PlanTemplate(const TemplateSnapshot& snapshot) {
  TemplatePlan plan;
  const ScopeTemplate& owner = snapshot.scope_template;
  const auto roles = ExpandTemplate(owner);
  if (!roles.ok()) plan.problems.emplace_back(roles.status().message());

  std::map<std::string, const rbacv1::ClusterRole*> by_name;
  for (const auto& role : snapshot.cluster_roles) by_name[role.metadata().name()] = &role;

  std::set<std::string> wanted;
  if (snapshot.referenced && roles.ok()) {
    for (const RoleTemplate& role : *roles) {
      wanted.insert(role.name);
      PlanRole(owner, role, by_name, plan);
    }
  }
  // An invalid template changes nothing: which of its roles it still means is not known.
  if (snapshot.referenced && !roles.ok()) return plan;
  for (const auto& [name, role] : by_name) {
    const auto& meta = role->metadata();
    if (!wanted.contains(name) && !meta.has_deletiontimestamp() &&
        BelongsTo(meta, owner.metadata().uid(), kTemplateUidLabel)) {
      plan.remove.push_back({{"", name}, meta.uid()});
    }
  }
  return plan;
}

std::string Summarise(const std::vector<std::string>& problems) {
  const size_t shown = std::min(problems.size(), kMaxProblems);
  std::string text = absl::StrJoin(problems.begin(), problems.begin() + shown, "; ");
  if (problems.size() > shown) StrAppend(&text, "; and ", problems.size() - shown, " more");
  return text;
}

std::vector<DesiredCondition> TemplateConditions(const ScopeTemplate& of, const TemplatePlan& plan,
                                                 const std::vector<std::string>& failures) {
  std::vector<std::string> all = plan.problems;
  all.insert(all.end(), failures.begin(), failures.end());
  if (all.empty()) {
    return {{kTemplated, true, kTemplatingSuccessful,
             StrCat("ScopeTemplate \"", of.metadata().name(), "\" successfully reconciled")}};
  }
  return {{kTemplated, false, kTemplatingFailed, Summarise(all)}};
}

}  // namespace mandate::scope
