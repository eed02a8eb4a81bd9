// The API server's denial of a ClusterRole without `escalate`, or of a binding without `bind`.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {

// Whether the server denied a write because its author has neither all permissions that the written
// object grants, nor `escalate` or `bind`. The server checks the whole object even if the write
// only removes something. It does not check a role without rules, or a deletion.
inline bool IsEscalationDenied(const absl::Status& status) {
  constexpr std::string_view kNotHeld = "attempting to grant RBAC permissions not currently held";
  return IsForbidden(status) && AsStd(status.message()).find(kNotHeld) != std::string_view::npos;
}

}  // namespace mandate::scope
