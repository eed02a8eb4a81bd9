// API Priority and Fairness for the manager's identities.
#pragma once

#include <vector>

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// If the switch is on, adds a priority level for the manager, and a FlowSchema that assigns its
// identities to this level with one flow for each. So many requests of one component do not delay
// base's renewals, the other components, or other workloads.
void AddFlowSchema(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen
