// The normal form of a set of RBAC rules, exactly as controller-gen v0.23 makes it
// (sigs.k8s.io/controller-tools/pkg/rbac). So a project can switch to rbacgen without a diff.
#pragma once

#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// In this order: each resource becomes a rule of its own; the group "core" becomes ""; every list
// is sorted and without duplicates; then rules that differ in one axis only are joined: verbs,
// resources, groups, URLs; the rules are sorted; verbs with "*" become ["*"]. Each step is a union
// along one axis of rules that are equal in all others, so the result allows exactly the same
// requests as the input.
//
// A list of one empty string is the same key as an empty list; the first rule's spelling stays.
// If joining makes two rules equal except for their verbs, controller-gen keeps one of the two at
// random and loses the other's verbs; here the verbs are joined.
std::vector<Rule> NormalizeRules(std::vector<Rule> rules);

}  // namespace mandate::rbac
