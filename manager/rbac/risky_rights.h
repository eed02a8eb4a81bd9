// Rights that give more power than their words show. The manager must hold none of the critical
// ones itself; `rbacgen check` asks for a reason, `rbacgen diff` shows the consequences of a
// change, and `rbacgen blast-radius` finds the reach of an identity.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

struct RiskyRight {
  // The identities that the holder of the right can become; blast-radius follows these.
  enum class Becomes {
    kNone,
    kAccountsOfNamespace,  // every ServiceAccount of the namespace, by a pod that uses it
    kAccounts,             // every ServiceAccount of the cluster
  };

  // The severity: the highest grade that rbac-police gives; if it gives none, that of KubiScan or
  // krane. What they grade below high is medium here.
  enum class Severity {
    kMedium,    // misleads others or reaches ports; does harm only with another right
    kHigh,      // gives code execution, credentials or writes of some other identities
    kCritical,  // gives the rights of any user or any ServiceAccount
  };

  std::string_view verbs;  // any of these verbs; separated by blanks
  std::string_view group;  // "" is the core group
  std::string_view resource;
  std::string_view subresource;
  std::string_view consequence;  // "reads credentials"
  Severity severity;
  Becomes becomes = Becomes::kNone;
  // If not empty, a rule counts only if its resourceNames have this name.
  std::string_view name = {};

  std::vector<std::string_view> Verbs() const;
  // The first of the verbs that the rule has for the resource; "" if it has none of them.
  std::string_view VerbOf(const Rule& rule) const;
};

std::span<const RiskyRight> RiskyRights();

// The consequence of a rule's URLs: "reads the API server's memory"; "" if it has none.
std::string_view RiskOfUrls(const Rule& rule);

// The highest severity of the rule's consequences; nullopt if it has none.
std::optional<RiskyRight::Severity> SeverityOf(const Rule& rule);

// "critical", "high", "medium".
std::string_view SeverityName(RiskyRight::Severity severity);

}  // namespace mandate::rbac
