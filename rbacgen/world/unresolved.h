// Bindings whose role is not in the world, so that the rights that they grant are unknown.
#pragma once

#include <string>
#include <vector>

#include "manager/rbac/policy.h"
#include "manager/rbac/user.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct UnresolvedBinding {
  std::string ns;    // empty for a ClusterRoleBinding
  std::string name;  // the binding's name
  rbac::RoleRef role;
  std::vector<rbac::Subject> subjects;

  // 'ClusterRoleBinding b of User ann refers to ClusterRole r, which the input does not have: …'
  std::string ToString() const;
  // Whether the user, or one of its groups, is a subject.
  bool Binds(const rbac::UserInfo& user) const;
};

// The bindings that have subjects and whose role is not in the world. Empty for a whole cluster,
// where a missing role grants nothing.
std::vector<UnresolvedBinding> UnresolvedBindings(const World& world);

}  // namespace mandate::rbacgen
