#include "rbacgen/analysis/unresolved.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"

namespace mandate::rbacgen {
namespace {

constexpr char kClusterAdmin[] = "cluster-admin";

bool IsClusterAdmin(const rbac::RoleRef& ref) {
  return ref.kind == "ClusterRole" && ref.name == kClusterAdmin;
}

}  // namespace

std::string UnresolvedBinding::ToString() const {
  std::string who;
  for (const rbac::Subject& s : subjects) {
    StrAppend(&who, who.empty() ? "" : ", ", s.kind, " ", s.ns, s.ns.empty() ? "" : "/", s.name);
  }
  return StrCat(ns.empty() ? "ClusterRoleBinding " : "RoleBinding ", ns, ns.empty() ? "" : "/",
                name, " of ", who, " refers to ", role.kind, " ", role.name,
                ", which the input does not have: what it grants is not known");
}

std::vector<UnresolvedBinding> UnresolvedBindings(const World& world) {
  std::vector<UnresolvedBinding> unresolved;
  if (world.is_whole) return unresolved;
  const rbac::Authorizer authorizer(world.policy);
  const auto look = [&](const auto& binding, const std::string& ns) {
    if (binding.subjects.empty() || authorizer.Resolve(binding.role_ref, ns).ok()) return;
    unresolved.push_back({ns, binding.name, binding.role_ref, binding.subjects});
  };
  for (const auto& b : world.policy.cluster_role_bindings) look(b, "");
  for (const auto& b : world.policy.role_bindings) look(b, b.ns);
  return unresolved;
}

void AddClusterAdmin(World* world) {
  rbac::Policy& policy = world->policy;
  const auto refers = [](const auto& binding) { return IsClusterAdmin(binding.role_ref); };
  const bool is_there = std::ranges::any_of(
      policy.cluster_roles, [](const auto& role) { return role.name == kClusterAdmin; });
  if (is_there || (std::ranges::none_of(policy.cluster_role_bindings, refers) &&
                   std::ranges::none_of(policy.role_bindings, refers))) {
    return;
  }
  rbac::ClusterRole role;
  role.name = kClusterAdmin;
  role.rules = {{.verbs = {"*"},
                 .api_groups = {"*"},
                 .resources = {"*"},
                 .resource_names = {},
                 .non_resource_urls = {}},
                {.verbs = {"*"},
                 .api_groups = {},
                 .resources = {},
                 .resource_names = {},
                 .non_resource_urls = {"*"}}};
  policy.cluster_roles.push_back(std::move(role));
}

}  // namespace mandate::rbacgen
