#include "rbacgen/world/rights.h"

#include <algorithm>
#include <utility>

#include "manager/rbac/covers.h"
#include "manager/rbac/normalize.h"
#include "rbacgen/world/builtin_policy.h"

namespace mandate::rbacgen {
namespace {

// Calls `note` with each rule of the user; rules for every namespace come once.
template <class Note>
void VisitAllRules(const rbac::Authorizer& authorizer, const rbac::UserInfo& user, Note note) {
  const auto visit = [&](const rbac::Grant& grant) {
    note(grant);
    return true;
  };
  authorizer.VisitRules(user, "", visit);
  for (const std::string& ns : authorizer.policy().BindingNamespaces()) {
    authorizer.VisitRules(
        user, ns, [&](const rbac::Grant& grant) { return grant.ns.empty() || visit(grant); });
  }
}

// Whether every member of `group` is also a member of `other`, because a ServiceAccount's groups
// are implicit.
bool IsPartOf(std::string_view group, std::string_view other) {
  if (group == other) return true;
  return group.starts_with(rbac::kServiceAccountsGroup) &&
         (other == rbac::kAuthenticatedGroup || other == rbac::kServiceAccountsGroup);
}

}  // namespace

std::set<std::string> KnownNamespaces(const World& world) {
  std::set<std::string> namespaces;
  for (const auto& role : world.policy.roles) namespaces.insert(role.ns);
  for (const auto& binding : world.policy.role_bindings) namespaces.insert(binding.ns);
  for (const auto& [ns, name] : world.accounts) namespaces.insert(ns);
  return namespaces;
}

std::vector<Right> RightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user) {
  std::vector<Right> rights;
  VisitAllRules(authorizer, user, [&](const rbac::Grant& grant) {
    rights.push_back({std::string(grant.ns), grant.rule, grant.Describe()});
  });
  return rights;
}

std::vector<rbac::Rule> EverybodysRules(std::string_view role, std::string_view group) {
  std::vector<rbac::Rule> rules;
  if (!group.starts_with("system:")) return rules;
  const rbac::Policy& builtin = BuiltinPolicy().policy;
  const auto names_group = [&](const rbac::Subject& s) {
    return s.kind == "Group" && s.name != rbac::kMastersGroup && IsPartOf(group, s.name);
  };
  for (const rbac::ClusterRoleBinding& binding : builtin.cluster_role_bindings) {
    if (binding.role_ref.name != role || !std::ranges::any_of(binding.subjects, names_group)) {
      continue;
    }
    for (const rbac::ClusterRole& its : builtin.cluster_roles) {
      if (its.name == role) rules.insert(rules.end(), its.rules.begin(), its.rules.end());
    }
  }
  return rules;
}

std::vector<Right> GrantedRightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user) {
  std::vector<Right> rights;
  VisitAllRules(authorizer, user, [&](const rbac::Grant& grant) {
    std::vector<rbac::Rule> rules = {grant.rule};
    if (grant.subject.kind == "Group") {
      const auto everybodys = EverybodysRules(grant.role_ref.name, grant.subject.name);
      if (!everybodys.empty()) rules = rbac::NormalizeRules(rbac::Uncovered(everybodys, rules));
    }
    for (rbac::Rule& rule : rules) {
      rights.push_back({std::string(grant.ns), std::move(rule), grant.Describe()});
    }
  });
  return rights;
}

RightsByNamespace ByNamespace(const std::vector<Right>& rights) {
  RightsByNamespace by_namespace;
  for (const Right& right : rights) by_namespace[right.ns].push_back(right.rule);
  return by_namespace;
}

RightsByNamespace Gained(const RightsByNamespace& before, const RightsByNamespace& now) {
  RightsByNamespace gained;
  const auto rules_in = [](const RightsByNamespace& rights, const std::string& ns) {
    const auto found = rights.find(ns);
    return found == rights.end() ? std::vector<rbac::Rule>() : found->second;
  };
  const std::vector<rbac::Rule> everywhere = rules_in(before, "");
  for (const auto& [ns, rules] : now) {
    std::vector<rbac::Rule> held = everywhere;
    if (!ns.empty()) {
      // Rights that are gained in every namespace are not repeated for this one.
      for (const auto* more : {&before, &now}) {
        const auto its = rules_in(*more, more == &before ? ns : "");
        held.insert(held.end(), its.begin(), its.end());
      }
    }
    auto missing = rbac::NormalizeRules(rbac::Uncovered(held, rules));
    if (!missing.empty()) gained[ns] = std::move(missing);
  }
  return gained;
}

}  // namespace mandate::rbacgen
