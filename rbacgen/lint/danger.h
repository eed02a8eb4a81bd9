// Rights that give more than their words say. Three commands use the same table: lint, which asks
// for a reason; diff, for the consequences of a change; blast-radius, for the reach of an identity.
#ifndef RBACGEN_LINT_DANGER_H_
#define RBACGEN_LINT_DANGER_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

struct Danger {
  // The identities that the holder of the right can become; blast-radius follows these.
  enum class Becomes {
    kNobody,
    kAccountsOfNamespace,  // every ServiceAccount that a pod there may have
    kAccounts,             // every ServiceAccount of the cluster
  };

  // The severity: the highest grade of rbac-police; of KubiScan or krane if rbac-police has none.
  // Their grades below high are medium here.
  enum class Severity {
    kMedium,    // can mislead others, or reaches ports; needs another right to do harm
    kHigh,      // code, credentials or writes of some others
    kCritical,  // any user's or any ServiceAccount's rights
  };

  std::string_view verbs;  // any of them; separated by blanks
  std::string_view group;  // "" is the core group
  std::string_view resource;
  std::string_view subresource;
  std::string_view consequence;  // "reads credentials"
  Severity severity;
  Becomes becomes = Becomes::kNobody;
  // Not empty: for a rule with resourceNames, only the right to this object counts.
  std::string_view name = {};

  std::vector<std::string_view> Verbs() const;
  // The first of the verbs that the rule has for the resource; "" when it has none.
  std::string_view VerbOf(const rbac::Rule& rule) const;
};

std::span<const Danger> Dangers();

// The consequence of a rule's URLs: "reads the API server's memory"; "" without one.
std::string_view DangerOfUrls(const rbac::Rule& rule);

// The highest severity of the rule's consequences; nullopt if it has none.
std::optional<Danger::Severity> SeverityOf(const rbac::Rule& rule);

// "critical", "high", "medium".
std::string_view SeverityName(Danger::Severity severity);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_DANGER_H_
