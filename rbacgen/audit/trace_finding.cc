#include "rbacgen/audit/trace_finding.h"

#include <algorithm>
#include <cstdlib>

namespace mandate::rbacgen {

const std::vector<TraceFindingKind>& TraceFindingKinds() {
  static const auto& kinds = *new std::vector<TraceFindingKind>{
      {"masters", "high", "a request with the manager's user agent had the group system:masters",
       "give the manager its own credential, not that of an administrator"},
      {"foreign-user", "medium", "another user sent the manager's user agent",
       "ask that user why; a user agent alone proves nothing"},
      {"agent-mismatch", "medium", "a user of the manager sent another user agent",
       "find who used this identity; if it was not you, cut the component off"},
      {"no-credential-id", "high", "a component was authenticated without a token from base",
       "find which client certificate or Secret authenticates as the component, and revoke it"},
      {"token-origin", "high", "a component's token was not requested by base in this log",
       "trace a log that begins before the manager's start; if the finding remains, delete the "
       "Secret or ServiceAccount of the token"},
      {"base-write", "high", "base wrote objects other than the components' tokens and its Lease",
       "revoke base's additional permissions; rbacgen diff compares them with the chart's"},
      {"base-impersonates", "high", "base acted as a user that is not a component",
       "revoke base's permission to impersonate that user"},
      {"base-pod", "high", "base's credential was used by a pod that is not the manager's",
       "find who created the pod or the token, then delete the manager's pods and that one"},
      {"base-address", "high", "base's credential was used from a second address",
       "if the address belongs to a gateway of the manager, list it with --address; else replace "
       "base's "
       "credential: delete the manager's pods"},
      {"component-pod", "high", "a component's token was bound to a pod",
       "delete that pod; find who may create pods in the manager's namespace"},
      {"component-address", "high",
       "a component's token was used from an address that is not the manager's",
       "if the address belongs to a gateway of the manager, list it with --address; else cut the "
       "component "
       "off"},
      {"two-tokens", "high", "two tokens of one component were used at the same time",
       "find who requested the second one; --token-overlap is how long a token may still be used "
       "after the next one is in use"},
      {"token-request", "high", "base requested a token that differs from the manager's requests",
       "unless the chart's killSwitch changed meanwhile, replace base's credential; the chart's "
       "fences deny such requests"},
      {"orphan-binding", "high",
       "a component created a binding for a ScopeInstance that does not "
       "exist",
       "delete the binding; look up in the log who else used the component's token"},
      {"bound", "low", "the log has more data than the trace keeps",
       "trace a shorter log, or raise --max-credentials"},
  };
  return kinds;
}

const TraceFindingKind& KindOf(std::string_view name) {
  const auto& kinds = TraceFindingKinds();
  const auto found = std::ranges::find(kinds, name, &TraceFindingKind::name);
  if (found == kinds.end()) std::abort();
  return *found;
}

}  // namespace mandate::rbacgen
