// The check of a request before any Transport sends it.
#ifndef MANAGER_TRANSPORT_REQUEST_CHECK_H_
#define MANAGER_TRANSPORT_REQUEST_CHECK_H_

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// kInvalidArgument for a request that is not valid HTTP, or that would carry more or less than its
// one credential: an Authorization header next to the credential, an empty token, a certificate
// that the endpoint does not have, line breaks that would inject a header. Never prints the token.
absl::Status CheckRequest(const HttpRequest& request);

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_REQUEST_CHECK_H_
