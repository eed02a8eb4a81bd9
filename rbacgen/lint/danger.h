// Rights that give more than their words say. One table for who asks for a reason (lint), for what
// a change amounts to (diff) and for what somebody reaches (blast-radius).
#ifndef RBACGEN_LINT_DANGER_H_
#define RBACGEN_LINT_DANGER_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

struct Danger {
  // Whom the right makes its holder, besides himself; blast-radius follows these.
  enum class Becomes {
    kNobody,
    kAccountsOfNamespace,  // every ServiceAccount that a pod there may have
    kAccounts,             // every ServiceAccount of the cluster
  };

  // How much it gives, as rbac-police grades it at the highest, and KubiScan or krane where it does
  // not; theirs below high is medium.
  enum class Severity {
    kMedium,    // what others can be misled with, or ports; little without another right
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
  // Not empty: the right to this object alone is meant, where a rule names its objects.
  std::string_view name = {};

  std::vector<std::string_view> Verbs() const;
  // The first of the verbs that the rule has for the resource; "" when it has none.
  std::string_view VerbOf(const rbac::Rule& rule) const;
};

std::span<const Danger> Dangers();

// What a rule's URLs come to: "reads the API server's memory"; "" where that is nothing much.
std::string_view DangerOfUrls(const rbac::Rule& rule);

// The highest severity of what the rule gives; none if that is no more than its words.
std::optional<Danger::Severity> SeverityOf(const rbac::Rule& rule);

// "critical", "high", "medium".
std::string_view SeverityName(Danger::Severity severity);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_DANGER_H_
