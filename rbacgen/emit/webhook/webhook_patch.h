// The patch of a webhook's marker: a strategic merge patch.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/json.h"

namespace mandate::rbacgen {

// Applies the patch to the webhook, both of admissionregistration.k8s.io/v1: objects are merged,
// null removes a field, matchConditions are merged by name, and everything else is replaced. An
// empty patch changes nothing. InvalidArgument if the patch is not a JSON object, has unknown
// fields, or has fields of the wrong type. Directives of strategic merge patches ("$patch" and
// others) are InvalidArgument too: controller-gen supports them, but the marker's own arguments are
// a simpler way.
absl::StatusOr<Json::Value> PatchWebhook(Json::Value webhook, std::string_view patch,
                                         bool mutating);

}  // namespace mandate::rbacgen
