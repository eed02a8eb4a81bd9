// Errors on their way out: metav1.Status as the API server writes it.
#ifndef TESTING_APISERVER_STATUS_RESPONSE_H_
#define TESTING_APISERVER_STATUS_RESPONSE_H_

#include "absl/status/status.h"
#include "manager/object/api_error.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The metav1.Status that `status` carries (manager/object/api_error.h); without one it is an
// internal error with the status' own message.
ApiStatusProto StatusOf(const absl::Status& status);

// It as an answer, in the encoding that the request accepts, JSON when it accepts none; with
// Retry-After where the details ask for it.
Response StatusResponse(const absl::Status& status, const Request& request);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_STATUS_RESPONSE_H_
