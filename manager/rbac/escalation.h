// The API server's check of writes of RBAC objects, after authorization: a user may grant only
// rights that the user has (k8s.io/kubernetes pkg/registry/rbac).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/rbac/authorizer.h"
#include "manager/rbac/policy.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"

namespace mandate::rbac {

// The role that a request writes. A POST has no name, so a grant of "escalate" that is restricted
// by resourceNames does not allow it. PUT, PATCH and apply have a name.
struct RoleWrite {
  std::string_view ns;  // empty: a ClusterRole
  std::string_view name;
  std::span<const Rule> rules;  // the role's new rules
};

// The rules that the user lacks for that write, split as by BreakDown; empty if the user may write.
// Members of system:masters and holders of "escalate" on the role may write any.
std::vector<Rule> MissingToWriteRole(const Authorizer& authorizer, const UserInfo& user,
                                     const RoleWrite& write);

// The rules that the user lacks to bind that role in `ns`; an empty `ns` means a
// ClusterRoleBinding. Members of system:masters and holders of "bind" on the role may bind it, even
// if it does not exist. For other users, a role that does not exist is NotFound.
absl::StatusOr<std::vector<Rule>> MissingToBind(const Authorizer& authorizer, const UserInfo& user,
                                                std::string_view ns, const RoleRef& ref);

}  // namespace mandate::rbac
