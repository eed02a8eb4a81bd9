// What is too strong to be granted without a reason.
#ifndef RBACGEN_LINT_RISK_H_
#define RBACGEN_LINT_RISK_H_

#include <optional>
#include <string>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

// What makes the rule of a marker risky, for people: "list on secrets (reads credentials)". Whoever
// has such a right can gain others, read what others keep secret, or decide what others may write
// (danger.h). None if it is not.
std::optional<std::string> Risk(const rbac::Rule& as_written);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_RISK_H_
