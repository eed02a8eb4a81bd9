// A mandate: the rights of one component, as the markers of its source declare them. rbacgen writes
// these tables.
#pragma once

#include <span>
#include <string_view>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// The namespace of a rule that applies in the manager's own namespace, which is known only at run
// time (mandate_in_namespace.h). No namespace can have this name.
inline constexpr std::string_view kManagerNamespace = "$(NAMESPACE)";

struct MandateRule {
  RuleView rule;
  // If empty, the rules apply to every namespace and to cluster scope (a ClusterRole); otherwise
  // only to that namespace (a Role).
  std::string_view ns = {};
  // granted=external: the grant arrives later and per scope, so its absence is not an error.
  bool external = false;
};

// A webhook that the component's markers declare, and that the API server therefore calls.
struct DeclaredWebhook {
  std::string_view path;
  bool mutating = false;
  std::string_view name = {};  // of the entry in the configuration

  bool operator==(const DeclaredWebhook&) const = default;
};

// Immutable; made of constants that live as long as the program.
struct Mandate {
  std::string_view component;
  std::span<const MandateRule> rules;
  std::span<const DeclaredWebhook> webhooks = {};
};

// Whether any rule allows `verb` on the kind in any namespace, for any name. The compiler checks
// this for a typed call; the guard checks namespaces and names at run time. A request to delete a
// collection has no name, so a rule with names never permits it.
constexpr bool PermitsSomewhere(const Mandate& mandate, std::string_view verb,
                                std::string_view group, std::string_view resource,
                                std::string_view subresource = "") {
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
constexpr bool PermitsRequest(const Mandate& mandate, const Attributes& request) {
  for (const MandateRule& r : mandate.rules) {
    const bool scoped = r.ns.empty() || (request.is_resource_request && r.ns == request.ns);
    if (scoped && RuleAllows(r.rule, request)) return true;
  }
  return false;
}

}  // namespace mandate::rbac
