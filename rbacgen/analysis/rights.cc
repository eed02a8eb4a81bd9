#include "rbacgen/analysis/rights.h"

#include <algorithm>
#include <utility>

#include "manager/rbac/covers.h"
#include "manager/rbac/normalize.h"

namespace mandate::rbacgen {

std::set<std::string> KnownNamespaces(const World& world) {
  std::set<std::string> namespaces;
  for (const auto& role : world.policy.roles) namespaces.insert(role.ns);
  for (const auto& binding : world.policy.role_bindings) namespaces.insert(binding.ns);
  for (const auto& [ns, name] : world.accounts) namespaces.insert(ns);
  return namespaces;
}

std::vector<Right> RightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user) {
  std::vector<Right> rights;
  const auto note = [&](const rbac::Grant& grant) {
    rights.push_back(
        {std::string(grant.ns), grant.rule, grant.Describe(),
         grant.subject.kind == "Group" && IsEverybodys(grant.role_ref.name, grant.subject.name)});
    return true;
  };
  authorizer.VisitRules(user, "", note);
  for (const std::string& ns : authorizer.policy().BindingNamespaces()) {
    authorizer.VisitRules(
        user, ns, [&](const rbac::Grant& grant) { return grant.ns.empty() || note(grant); });
  }
  return rights;
}

bool IsEverybodys(std::string_view role, std::string_view group) {
  constexpr std::string_view kRoles[] = {"system:discovery", "system:basic-user",
                                         "system:public-info-viewer",
                                         "system:service-account-issuer-discovery"};
  return std::ranges::find(kRoles, role) != std::end(kRoles) && group.starts_with("system:");
}

std::vector<Right> GrantedRightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user) {
  std::vector<Right> rights = RightsOf(authorizer, user);
  std::erase_if(rights, [](const Right& right) { return right.everybodys; });
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
      // What is gained everywhere is not gained once more here.
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
