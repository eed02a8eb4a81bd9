#include "rbacgen/world/unresolved.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"

namespace mandate::rbacgen {

std::string UnresolvedBinding::ToString() const {
  std::string who;
  for (const rbac::Subject& s : subjects) {
    StrAppend(&who, who.empty() ? "" : ", ", s.kind, " ", s.ns, s.ns.empty() ? "" : "/", s.name);
  }
  return StrCat(ns.empty() ? "ClusterRoleBinding " : "RoleBinding ", ns, ns.empty() ? "" : "/",
                name, " of ", who, " refers to ", role.kind, " ", role.name,
                ", which the input does not have: its permissions are unknown");
}

bool UnresolvedBinding::Binds(const rbac::UserInfo& user) const {
  return std::ranges::any_of(
      subjects, [&](const rbac::Subject& s) { return rbac::SubjectMatches(s, user, ns); });
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

}  // namespace mandate::rbacgen
