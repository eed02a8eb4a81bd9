// The permissions that base needs to act for a component by impersonation.
#ifndef RBACGEN_EMIT_CHART_IMPERSONATION_H_
#define RBACGEN_EMIT_CHART_IMPERSONATION_H_

#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Adds base's permissions, under the condition of that identity mode. Classic: the verb
// "impersonate" on the component's ServiceAccount, which gives base all rights of the component,
// everywhere. Constrained impersonation (KEP-5284, on by default since Kubernetes 1.36): in a
// component's name, base may do only what the markers of all components together declare;
// AddImpersonationFence limits the writes to what the component's own markers declare.
void AddImpersonation(ObjectMaker& maker, const ComponentMandate& component);

// The rules with "impersonate-on:serviceaccount:" before their verbs. "*" becomes the verbs that a
// request can have, because RBAC does not support "impersonate-on:serviceaccount:*". Verbs that no
// request has, such as bind and escalate, are omitted: the server checks them for the component
// only.
std::vector<rbac::Rule> ImpersonateOn(const std::vector<rbac::Rule>& rules);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_IMPERSONATION_H_
