// Fewer and shorter rules that allow exactly the same.
#ifndef RBACGEN_MARKERS_MINIMAL_RULES_H_
#define RBACGEN_MARKERS_MINIMAL_RULES_H_

#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Beyond rbac::NormalizeRules, whose result controller-gen's users know: what another rule allows
// already goes (a name where any is allowed, get beside "*", pods/log beside "*/log"), and rules
// that differ in one list only are joined until none are left, lists of names included. Each join
// is a union along one axis with all others equal, so nothing is widened. Not the least there can
// be, as that would be a set cover; the result does not depend on the order of the rules.
std::vector<rbac::Rule> MinimalRules(const std::vector<rbac::Rule>& rules);

// The same for each grant of a component. A grant also loses what the component's own rules for
// every namespace allow; one that is left with nothing goes.
void MinimizeGrants(ComponentMandate* component);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_MINIMAL_RULES_H_
