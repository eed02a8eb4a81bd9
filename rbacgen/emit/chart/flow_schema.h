// API Priority and Fairness for the manager's identities.
#ifndef RBACGEN_EMIT_CHART_FLOW_SCHEMA_H_
#define RBACGEN_EMIT_CHART_FLOW_SCHEMA_H_

#include <vector>

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Adds, when asked for, a priority level of the manager's own, and a FlowSchema that leads every
// identity of it there with a flow for each: many requests of one component delay neither base's
// renewals nor the other components, nor others' workloads.
void AddFlowSchema(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_FLOW_SCHEMA_H_
