// The objects that give the components of a test cluster their identities and permissions, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "manager/rbac/mandate.h"

namespace mandate::scope {

inline constexpr char kNamespace[] = "mandate";
inline constexpr char kBase[] = "mandate-manager";

// The name of the component's ServiceAccount, ClusterRole and ClusterRoleBinding.
std::string AccountOf(const rbac::Mandate& mandate);
// A ServiceAccount.
std::string Account(const std::string& name);
// A binding of the role of this name to the ServiceAccount of this name.
std::string BindingTo(std::string_view kind, std::string_view role_kind, const std::string& name);
// The Role that lets base request the tokens of its components.
std::string MinterRole();
// The ClusterRole of the mandate, without the verb, and without list and watch of `unread`.
std::string RoleJson(const rbac::Mandate& mandate, std::string_view without_verb,
                     std::string_view unread);
// The chart's CustomResourceDefinition.
std::string Definition(std::string_view plural);

}  // namespace mandate::scope
