// What base needs so that it may act as a component (--identity-mode=impersonate).
#ifndef MANAGER_PREFLIGHT_IMPERSONATION_H_
#define MANAGER_PREFLIGHT_IMPERSONATION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/mandate.h"
#include "manager/rbac/rule.h"

namespace mandate {

// By namespace of the role; "" is cluster-wide.
using RulesByNamespace = std::map<std::string, std::vector<rbac::Rule>>;

// Constrained impersonation (KEP-5284; on by default from Kubernetes 1.36) has two halves; base
// gains nothing by it that the component lacks.
//
// To impersonate this one ServiceAccount.
RulesByNamespace WhomToImpersonate(std::string_view ns, std::string_view service_account);
// And to send, while it does, what the mandate declares, rules that are granted externally among
// it, the reviews of preflight and cache, and discovery. Verbs that no request has (bind, escalate)
// are the component's alone.
RulesByNamespace WhatToImpersonateOn(const rbac::Mandate& mandate);

// Of older servers: to impersonate this one ServiceAccount, for whatever it may do.
RulesByNamespace ClassicImpersonation(std::string_view ns, std::string_view service_account);

}  // namespace mandate

#endif  // MANAGER_PREFLIGHT_IMPERSONATION_H_
