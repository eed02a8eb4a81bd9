// The name that everything of one manager begins with.
#pragma once

#include <string>

#include "manager/rbac/mandate.h"

namespace mandate {

// The name of base's ServiceAccount and of the Lease, the prefix of the components' ServiceAccounts
// ("<name>-<component>"), and the product in user agents. It is the name of the Lease in base's
// mandate, which `rbacgen header --base-name` writes; "mandate-manager" if the mandate has no such
// rule or no name in it.
std::string BaseName(const rbac::Mandate& base);

}  // namespace mandate
