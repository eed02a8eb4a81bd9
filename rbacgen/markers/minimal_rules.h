// Replaces rules by fewer and shorter ones that allow exactly the same.
#ifndef RBACGEN_MARKERS_MINIMAL_RULES_H_
#define RBACGEN_MARKERS_MINIMAL_RULES_H_

#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Does more than rbac::NormalizeRules, whose result controller-gen's users know. It removes items
// that another rule already allows (a name where any is allowed, get next to "*", pods/log next to
// "*/log"), and joins rules that differ in one list only, until no pair is left; lists of names
// too. Each join is a union along one axis with all others equal, so no right is added. The result
// is not always the smallest, which would be a set cover. It does not depend on the order of the
// rules.
std::vector<rbac::Rule> MinimalRules(const std::vector<rbac::Rule>& rules);

// The same for each grant of a component. A grant also loses what the component's own rules for
// every namespace allow; one that is left with nothing goes.
void MinimizeGrants(ComponentMandate* component);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_MINIMAL_RULES_H_
