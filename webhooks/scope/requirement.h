// The rights that a user must have to write a ScopeTemplate or a ScopeInstance.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/scope/role_template.h"
#include "manager/client/self_review.h"
#include "manager/rbac/rule.h"

namespace mandate::scope {

// The name in questions about every name. A review without a name is also allowed by a rule with
// the name "", which does not hold for objects. This is not a valid name of an object.
inline constexpr std::string_view kEveryName = "scope-webhook:every-name";

// The permissions that the API server requires of a user who writes or binds a ClusterRole:
// `shortcut`, or all `rights`, each with one verb, and one resource or URL.
struct Requirement {
  std::string what;  // for messages: `to bind role "foo-" in namespace "bar"`
  AccessQuestion shortcut;
  std::vector<AccessQuestion> rights = {};
  bool only_shortcut = false;  // the rights are unknown
};

// To write the ClusterRole, cluster-wide. The shortcut is `escalate` on ClusterRoles, without a
// name, as for the POST that creates the role.
Requirement ToWriteRole(const RoleTemplate& role);

// To bind the role in `ns` (empty: in the cluster). The shortcut is `bind` on the ClusterRole.
Requirement ToBindRole(const RoleTemplate& role, std::string_view ns);

// To bind roles, or rules, that do not exist yet. Only `bind` on all ClusterRoles will do.
Requirement ToBindAnyRole(std::string_view ns);

// At least as many as the rights of ToWriteRole() and of ToBindRole(), without making them.
size_t CountRights(const RoleTemplate& role);

// The rules of the role.
std::vector<rbac::Rule> RulesOf(const RoleTemplate& role);

// EscalateAll() is the shortcut of every ToWriteRole(). BindAll() is `bind` on all ClusterRoles,
// cluster-wide, which includes the shortcut of every ToBindRole().
AccessQuestion EscalateAll();
AccessQuestion BindAll();

}  // namespace mandate::scope
