// The rule that every component needs to record events (manager/controller/rest_event_recorder.h).
// No marker asks for it: rbacgen adds it.
#ifndef MANAGER_RBAC_EVENTS_RULE_H_
#define MANAGER_RBAC_EVENTS_RULE_H_

#include "manager/rbac/rule.h"

namespace mandate::rbac {

namespace internal {
inline constexpr std::string_view kEventVerbs[] = {"create", "patch"};
inline constexpr std::string_view kEventGroups[] = {"events.k8s.io"};
inline constexpr std::string_view kEventResources[] = {"events"};
}  // namespace internal

inline constexpr RuleView kEventsRule = {.verbs = internal::kEventVerbs,
                                         .api_groups = internal::kEventGroups,
                                         .resources = internal::kEventResources};

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_EVENTS_RULE_H_
