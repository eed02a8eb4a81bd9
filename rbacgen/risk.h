// What is too strong to be granted without a reason.
#ifndef RBACGEN_RISK_H_
#define RBACGEN_RISK_H_

#include <optional>
#include <string>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

// What makes the rule risky, for people: "list on secrets". Whoever has such a right can gain
// others, read what others keep secret, or decide what others may write. None if it is not.
std::optional<std::string> Risk(const rbac::Rule& rule);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_RISK_H_
