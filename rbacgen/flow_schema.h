// API Priority and Fairness for the manager's identities.
#ifndef RBACGEN_FLOW_SCHEMA_H_
#define RBACGEN_FLOW_SCHEMA_H_

#include <vector>

#include "rbacgen/mandates.h"
#include "rbacgen/object_maker.h"

namespace mandate::rbacgen {

// Adds, when asked for, a priority level of the manager's own, and a FlowSchema that leads every
// identity of it there with a flow for each: many requests of one component delay neither base's
// renewals nor the other components, nor others' workloads.
void AddFlowSchema(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_FLOW_SCHEMA_H_
