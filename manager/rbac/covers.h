// Subsumption of rules, as the API server checks it before it lets a user grant rights
// (k8s.io/component-helpers/auth/rbac/validation). A component that grants a role must itself have
// the rights of the role.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// The rule, split into rules with one verb, one group, one resource and (if it has names) one name
// each, or with one verb and one URL. The result is empty for a rule without verbs, or without
// resources and URLs.
std::vector<Rule> Breakdown(const Rule& rule);

// The broken-down rules of `wanted` that no single rule of `held` covers; empty if all are held. A
// held rule without names covers any name, and only such a rule covers a wanted rule without names.
// Two held rules do not add up to a wildcard that neither of them has.
std::vector<Rule> Uncovered(std::span<const Rule> held, std::span<const Rule> wanted);

// The text by which the server prints a missing rule: {APIGroups:[""], Resources:["pods"],
// Verbs:["get"]}.
std::string CompactString(const Rule& rule);

}  // namespace mandate::rbac
