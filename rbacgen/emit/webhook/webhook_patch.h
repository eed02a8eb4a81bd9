// The patch of a webhook's marker: a strategic merge patch.
#ifndef RBACGEN_EMIT_WEBHOOK_WEBHOOK_PATCH_H_
#define RBACGEN_EMIT_WEBHOOK_WEBHOOK_PATCH_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/json.h"

namespace mandate::rbacgen {

// The webhook with the patch done, both of admissionregistration.k8s.io/v1: objects are merged,
// null takes away, matchConditions are merged by name, all else is replaced. An empty patch changes
// nothing. InvalidArgument for what is no JSON object, or names fields that a webhook lacks or of
// other types; and for the directives of strategic merge patches ("$patch" and the like), which
// controller-gen knows: what they do to a webhook's few fields is plainer said by the marker
// itself.
absl::StatusOr<Json::Value> PatchWebhook(Json::Value webhook, std::string_view patch,
                                         bool mutating);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_WEBHOOK_WEBHOOK_PATCH_H_
