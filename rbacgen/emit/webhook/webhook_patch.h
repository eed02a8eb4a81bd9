// The patch of a webhook's marker: a strategic merge patch.
#ifndef RBACGEN_EMIT_WEBHOOK_WEBHOOK_PATCH_H_
#define RBACGEN_EMIT_WEBHOOK_WEBHOOK_PATCH_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/json.h"

namespace mandate::rbacgen {

// The webhook with the patch done, both of admissionregistration.k8s.io/v1: objects are merged,
// null removes a field, matchConditions are merged by name, all else is replaced. An empty patch
// changes nothing. InvalidArgument if it is not a JSON object, or has unknown fields or fields of
// the wrong type. Directives of strategic merge patches ("$patch" and others) are InvalidArgument
// too: controller-gen supports them, but the marker's own arguments do the same more plainly.
absl::StatusOr<Json::Value> PatchWebhook(Json::Value webhook, std::string_view patch,
                                         bool mutating);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_WEBHOOK_WEBHOOK_PATCH_H_
