// Checks whether a world knows the identities that a question names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// OK if the world has the identity that FindUser() makes of `name`, and each of the groups: as a
// component, a ServiceAccount or a binding's subject, or because the name has a prefix (user:NAME,
// group:NAME). Else NotFound, with the next step: the name may be mistyped, and "no" would be an
// answer about a user that does not exist. Nodes are unknown, because RBAC does not authorize them.
// `world` must have the built-in policy, which names the users and groups of Kubernetes itself.
absl::Status CheckKnown(const World& world, std::string_view name,
                        const std::vector<std::string>& groups);

}  // namespace mandate::rbacgen
