// The rights of an identity in all namespaces, and the differences of two sets of rights.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/authorizer.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// One rule that applies to a user, its namespace, and its binding ('ClusterRoleBinding "b" of …').
struct Right {
  std::string ns;  // empty: every namespace and cluster scope
  rbac::Rule rule;
  std::string via;
};

// Rules by namespace; "" stands for every namespace and cluster scope.
using RightsByNamespace = std::map<std::string, std::vector<rbac::Rule>>;

// The namespaces of the objects and identities of the world.
std::set<std::string> KnownNamespaces(const World& world);

// Every right of the user, including those of its groups.
std::vector<Right> RightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user);

// The rules that Kubernetes' own policy gives every member of the group through this ClusterRole:
// discovery, reviews of a user's own rights. Empty for other groups and roles. A cluster's role
// with this name may have more rules; these are not included.
std::vector<rbac::Rule> EverybodysRules(std::string_view role, std::string_view group);

// RightsOf() without those rules: the rights that the cluster's administrators give the user or one
// of its groups.
std::vector<Right> GrantedRightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user);

// The rights that `now` allows and `before` does not, normalised. The rules are broken down and
// compared by covering; a right in every namespace covers the same right in one namespace.
RightsByNamespace Gained(const RightsByNamespace& before, const RightsByNamespace& now);

RightsByNamespace ByNamespace(const std::vector<Right>& rights);

}  // namespace mandate::rbacgen
