// Finds the rules that need a reason, because they give much more than their words say.
#pragma once

#include <optional>
#include <string>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

// The risk of a marker's rule, in words: "list on secrets (reads credentials)"; nullopt if the rule
// is not risky. The holder of a risky right can gain other rights, read secrets of others, or
// control the writes of others (risky_rights.h).
std::optional<std::string> Risk(const rbac::Rule& as_written);

}  // namespace mandate::rbacgen
