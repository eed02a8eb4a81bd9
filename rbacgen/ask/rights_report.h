// Rights by namespace, for people and for machines.
#pragma once

#include <string>
#include <string_view>

#include "manager/object/json.h"
#include "rbacgen/world/rights.h"

namespace mandate::rbacgen {

// A line for each rule, the most severe first: `lead`, the rule in words and, if wanted, its
// consequences and their severity.
std::string RightsText(std::string_view lead, const RightsByNamespace& rights, bool consequences);

// A list of rules as in a role, the most severe first, each with its "namespace" if it has one, and
// "consequences" and "severity" if the rule has consequences beyond its words.
Json::Value RightsJson(const RightsByNamespace& rights);

}  // namespace mandate::rbacgen
