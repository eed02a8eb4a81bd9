// The permissions that base needs to act as a component (--identity-mode=impersonate).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/mandate.h"
#include "manager/rbac/rule.h"

namespace mandate::rbac {

// By namespace of the role; "" is cluster-wide.
using RulesByNamespace = std::map<std::string, std::vector<Rule>>;

// Constrained impersonation (KEP-5284; on by default from Kubernetes 1.36) has two halves. Base
// gets no permission from it that the component lacks.
//
// The first: to impersonate this ServiceAccount, in its namespace.
Rule ImpersonateUserRule(std::string_view service_account);
// The second: to send, meanwhile, the requests that the component declares, the reviews of
// preflight and cache, and discovery. "*" becomes the verbs that a request can have, because RBAC
// does not support "impersonate-on:serviceaccount:*"; verbs that no request has, such as bind and
// escalate, are checked for the component alone and are omitted.
RulesByNamespace ImpersonateOnRules(const RulesByNamespace& declared);
// The same for a mandate. The namespaces of an external grant are unknown, so it counts everywhere.
RulesByNamespace ImpersonateOnRules(const Mandate& mandate);

// For older servers: to impersonate this ServiceAccount, with all of its permissions.
Rule ClassicImpersonation(std::string_view service_account);

}  // namespace mandate::rbac
