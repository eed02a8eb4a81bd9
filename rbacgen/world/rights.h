// What an identity may do, in all namespaces; and how two such sets differ.
#ifndef RBACGEN_WORLD_RIGHTS_H_
#define RBACGEN_WORLD_RIGHTS_H_

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

// One rule that applies, where, and by which binding ('ClusterRoleBinding "b" of …').
struct Right {
  std::string ns;  // empty: every namespace and cluster scope
  rbac::Rule rule;
  std::string via;
};

// Rules by namespace; "" is every namespace and cluster scope.
using RightsByNamespace = std::map<std::string, std::vector<rbac::Rule>>;

// The namespaces that objects or identities of the world are in.
std::set<std::string> KnownNamespaces(const World& world);

// Every right of the user, the groups' included.
std::vector<Right> RightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user);

// The rules by which Kubernetes' own policy gives every member of the group through the
// ClusterRole: discovery, reviews of a user's own rights. Empty for other groups and roles. A
// cluster's role with this name may have more rules: these are not every user's.
std::vector<rbac::Rule> EverybodysRules(std::string_view role, std::string_view group);

// RightsOf without these rules: the rights that a binding of the cluster's administrators gives the
// user or one of its groups.
std::vector<Right> GrantedRightsOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user);

// The rights that `now` allows and `before` does not: broken down, compared by covering,
// normalised. A right in every namespace covers one in any.
RightsByNamespace Gained(const RightsByNamespace& before, const RightsByNamespace& now);

RightsByNamespace ByNamespace(const std::vector<Right>& rights);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_RIGHTS_H_
