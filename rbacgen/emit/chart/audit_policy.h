// The audit policy under which the manager's identities can be traced.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/emit/chart/chart_switches.h"
#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// An audit.k8s.io/v1 Policy for exactly these identities, at level Metadata: the credential ids
// that link a token to the request that issued it, and the authorizer's reasons. The bodies of
// TokenRequests are logged too. The stage RequestReceived is omitted. Base's renewals of its Lease,
// one every two seconds, are logged: without them no report can show that base uses this right.
// Requests for the identities' tokens are logged for all users.
//
// With `bodies`, it also logs the bodies that show bindings without a ScopeInstance: the bindings
// of the components that may make them and, for all users, the responses with ScopeInstances. This
// adds nothing if no component may make bindings.
Yaml AuditPolicy(const std::vector<ComponentMandate>& components, const std::string& base_name,
                 const ChartSwitches& switches, bool bodies = false);

// The policy as a file, with a heading that explains how to merge it.
std::string AuditPolicyText(const std::vector<ComponentMandate>& components,
                            const std::string& base_name, const ChartSwitches& switches,
                            bool bodies);

// If the switch is on, adds a ConfigMap with the policy; the API server reads the policy from a
// file, not from an object.
void AddAuditPolicy(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen
