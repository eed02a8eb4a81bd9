// API Priority and Fairness for the manager's identities.
#ifndef RBACGEN_EMIT_CHART_FLOW_SCHEMA_H_
#define RBACGEN_EMIT_CHART_FLOW_SCHEMA_H_

#include <vector>

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Adds, if the switch is on, a priority level for the manager, and a FlowSchema that assigns its
// identities to it with one flow each: many requests of one component delay neither base's
// renewals nor the other components, nor others' workloads.
void AddFlowSchema(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_FLOW_SCHEMA_H_
