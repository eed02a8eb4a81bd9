// Whether a user meets all requirements, by the API server's access reviews.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "webhooks/scope/requirement.h"

namespace mandate::scope {

// The answers to questions about the user, in their order.
using AskAccess =
    std::function<absl::StatusOr<std::vector<AccessAnswer>>(std::vector<AccessQuestion>)>;

// Asks first for all shortcuts, and then for the rights of the requirements whose shortcut the user
// lacks. kPermissionDenied names the missing rights as the API server does: `user "ann" cannot get
// resource "secrets" in API group "" in the namespace "foo"`. Other errors are `ask`'s.
absl::Status CheckRequirements(std::string_view user, const std::vector<Requirement>& requirements,
                               const AskAccess& ask);

}  // namespace mandate::scope
