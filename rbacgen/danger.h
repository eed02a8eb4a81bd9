// Rights that give more than their words say. One table for who asks for a reason (lint), for what
// a change amounts to (diff) and for what somebody reaches (blast-radius).
#ifndef RBACGEN_DANGER_H_
#define RBACGEN_DANGER_H_

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

  std::string_view verbs;  // any of them; separated by blanks
  std::string_view group;  // "" is the core group
  std::string_view resource;
  std::string_view subresource;
  std::string_view consequence;  // "reads credentials"
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

}  // namespace mandate::rbacgen

#endif  // RBACGEN_DANGER_H_
