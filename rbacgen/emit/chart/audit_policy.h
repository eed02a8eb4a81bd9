// The audit policy under which the manager's identities can be traced.
#ifndef RBACGEN_EMIT_CHART_AUDIT_POLICY_H_
#define RBACGEN_EMIT_CHART_AUDIT_POLICY_H_

#include <string>
#include <vector>

#include "rbacgen/emit/chart/chart_switches.h"
#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// An audit.k8s.io/v1 Policy for exactly these identities, at the level of metadata: the credential
// ids that link a token to the request that issued it, the authorizer's reasons, and the bodies of
// TokenRequests. It omits requests that are not answered yet. Base's renewals of its Lease, one
// every two seconds, are kept: without them no report can show that base uses this right. Requests
// for the identities' tokens are kept for all users.
//
// With `bodies`, it also keeps the bodies that show bindings without a ScopeInstance: the bindings
// of the components that may make them, and the server's answers with ScopeInstances, for all
// users. Without such a component it adds nothing.
Yaml AuditPolicy(const std::vector<ComponentMandate>& components, const std::string& base_name,
                 const ChartSwitches& switches, bool bodies = false);

// The policy as a file, with a heading that explains how to merge it.
std::string AuditPolicyText(const std::vector<ComponentMandate>& components,
                            const std::string& base_name, const ChartSwitches& switches,
                            bool bodies);

// Adds, if the switch is on, a ConfigMap with the policy, because the API server reads it from a
// file and not from an object.
void AddAuditPolicy(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_AUDIT_POLICY_H_
