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
// ids that tell who issued whose token, and the authorizer's reasons; of TokenRequests, what was
// asked for. Left out: requests that are
// not answered yet. Base's renewals of its Lease, one every two seconds, are kept: without them
// nobody can show that base uses what it may do. Requests for the identities' tokens are kept
// whoever makes them.
//
// With `bodies`, it also keeps what it takes to find bindings that are for no ScopeInstance: the
// bindings that the components ask for which may make some, and ScopeInstances as the server
// answers with them, whoever asks. Without such a component there is nothing to add.
Yaml AuditPolicy(const std::vector<ComponentMandate>& components, const std::string& base_name,
                 const ChartSwitches& switches, bool bodies = false);

// The policy as a file, with a heading for a person who merges it.
std::string AuditPolicyText(const std::vector<ComponentMandate>& components,
                            const std::string& base_name, const ChartSwitches& switches,
                            bool bodies);

// Adds, when asked for, a ConfigMap that holds it: the API server reads a file, no object.
void AddAuditPolicy(ObjectMaker& base, const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_AUDIT_POLICY_H_
