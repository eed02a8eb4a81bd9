// The permissions that base needs to act for a component by impersonation.
#pragma once

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Adds, under the condition of that identity mode, either the classic verb "impersonate" on the
// component's ServiceAccount, which gives base all rights of the component, everywhere; or
// constrained impersonation (KEP-5284, on by default since Kubernetes 1.36), which lets base do no
// more in a component's name than the markers of all components declare; AddImpersonationFence
// narrows the writes to the component's own.
void AddImpersonation(ObjectMaker& maker, const ComponentMandate& component);

}  // namespace mandate::rbacgen
