// A fence around what base writes as a component by impersonation.
#ifndef RBACGEN_EMIT_CHART_IMPERSONATION_FENCE_H_
#define RBACGEN_EMIT_CHART_IMPERSONATION_FENCE_H_

#include <vector>

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Adds a policy and its binding where base is granted constrained impersonation, whose permissions
// are not tied to the component that base acts as: base has those of all components together. Of
// the kinds that only other components write, the API server denies each write by the component's
// user that its own markers do not declare. Reads never reach admission. Adds nothing if the others
// write nothing else.
void AddImpersonationFence(ObjectMaker& maker, const ComponentMandate& component,
                           const std::vector<ComponentMandate>& all);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_IMPERSONATION_FENCE_H_
