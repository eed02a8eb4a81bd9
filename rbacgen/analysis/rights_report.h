// Rights by namespace, for people and for machines.
#ifndef RBACGEN_ANALYSIS_RIGHTS_REPORT_H_
#define RBACGEN_ANALYSIS_RIGHTS_REPORT_H_

#include <string>
#include <string_view>

#include "manager/object/json.h"
#include "rbacgen/analysis/rights.h"

namespace mandate::rbacgen {

// A line for each rule: `lead`, its words, and what it amounts to if that is asked for.
std::string RightsText(std::string_view lead, const RightsByNamespace& rights, bool consequences);

// A list of rules as in a role, each with its "namespace" if it has one.
Json::Value RightsJson(const RightsByNamespace& rights);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ANALYSIS_RIGHTS_REPORT_H_
