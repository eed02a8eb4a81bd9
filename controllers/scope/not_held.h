// The API server's denial of a ClusterRole without `escalate`, or of a binding without `bind`.
#ifndef CONTROLLERS_SCOPE_NOT_HELD_H_
#define CONTROLLERS_SCOPE_NOT_HELD_H_

#include <string_view>

#include "absl/status/status.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {

// Whether the server has denied a write because its author neither holds all that the object grants
// after it, nor has the verb that stands for that. It asks this of the whole object, also when a
// write only takes something away; not of a role without rules, and not of a deletion.
inline bool IsNotHeld(const absl::Status& status) {
  constexpr std::string_view kNotHeld = "attempting to grant RBAC permissions not currently held";
  return IsForbidden(status) && AsStd(status.message()).find(kNotHeld) != std::string_view::npos;
}

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_NOT_HELD_H_
