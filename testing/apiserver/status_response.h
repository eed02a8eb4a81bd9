// Encodes errors as metav1.Status.
#pragma once

#include "absl/status/status.h"
#include "manager/object/api_error.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The metav1.Status in the payload of `status` (manager/object/api_error.h). Without a payload it
// is an internal error with the message of `status`.
ApiStatusProto StatusOf(const absl::Status& status);

// The response with this Status, in the encoding that the request accepts, or else in JSON. It has
// a Retry-After header if the details have retryAfterSeconds.
Response StatusResponse(const absl::Status& status, const Request& request);

}  // namespace mandate::apiserver
