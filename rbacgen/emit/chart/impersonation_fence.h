// A fence for the writes that base makes as a component by impersonation.
#pragma once

#include <vector>

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Adds a policy and its binding if base is granted constrained impersonation, whose permissions are
// not tied to the component that base acts as: base has those of all components together. For kinds
// that other components write, the API server denies each write by the component's user that its
// own markers do not declare. Admission does not see reads. Adds nothing if the others write no
// other kinds.
void AddImpersonationFence(ObjectMaker& maker, const ComponentMandate& component,
                           const std::vector<ComponentMandate>& all);

}  // namespace mandate::rbacgen
