// Replaces rules by fewer and shorter rules that allow exactly the same.
#pragma once

#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Does more than rbac::NormalizeRules, whose result users of controller-gen know. It removes items
// that another rule already allows (a name if any name is allowed, get next to "*", pods/log next
// to "*/log"). Then it joins rules that differ in one list only, including lists of names, until no
// such pair is left. Each join is a union along one axis with all other lists equal, so no right is
// added. The result is not always the smallest possible, which would be a set cover. It does not
// depend on the order of the rules.
std::vector<rbac::Rule> MinimalRules(const std::vector<rbac::Rule>& rules);

// Does the same for each grant of a component. Also removes from a grant what the component's own
// rules for every namespace allow; a grant without rules is removed.
void MinimizeGrants(ComponentMandate* component);

}  // namespace mandate::rbacgen
