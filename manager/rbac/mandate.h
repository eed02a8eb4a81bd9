// A mandate: what one component may do, as its source's markers say. rbacgen writes these tables.
#ifndef MANAGER_RBAC_MANDATE_H_
#define MANAGER_RBAC_MANDATE_H_

#include <span>
#include <string_view>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

struct MandateRule {
  RuleView rule;
  // Empty: every namespace and cluster scope (a ClusterRole); else a Role in that namespace.
  std::string_view ns = {};
  // granted=external: the grant arrives later and per scope, so its absence is not an error.
  bool external = false;
};

// Immutable; made of constants that live as long as the program.
struct Mandate {
  std::string_view component;
  std::span<const MandateRule> rules;
};

// Whether any rule allows `verb` on the kind in any namespace, for any name. The compiler checks
// this for a typed call; the guard checks namespaces and names at run time. No request to delete a
// collection carries a name, so a rule with names never permits one.
constexpr bool Permits(const Mandate& mandate, std::string_view verb, std::string_view group,
                       std::string_view resource, std::string_view subresource = "") {
  for (const MandateRule& r : mandate.rules) {
    if (verb == "deletecollection" && !r.rule.resource_names.empty()) continue;
    if (VerbMatches(r.rule, verb) && GroupMatches(r.rule, group) &&
        ResourceMatches(r.rule, resource, subresource)) {
      return true;
    }
  }
  return false;
}

// Whether the mandate covers exactly this request, with its namespace and name.
constexpr bool Covers(const Mandate& mandate, const Attributes& request) {
  for (const MandateRule& r : mandate.rules) {
    const bool scoped = r.ns.empty() || (request.is_resource_request && r.ns == request.ns);
    if (scoped && RuleAllows(r.rule, request)) return true;
  }
  return false;
}

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_MANDATE_H_
