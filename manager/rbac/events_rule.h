// The rule that every component needs to record events (manager/controller/rest_event_recorder.h).
// No marker asks for it: rbacgen adds it.
#pragma once

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
