// What every Transport refuses to send.
#ifndef MANAGER_TRANSPORT_REQUEST_CHECK_H_
#define MANAGER_TRANSPORT_REQUEST_CHECK_H_

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// kInvalidArgument for a request that is no proper HTTP request or would carry more or less than
// its one credential: an Authorization header beside the credential, an empty token, a certificate
// that the endpoint lacks, line breaks that would smuggle in a header. Never prints the token.
absl::Status CheckRequest(const HttpRequest& request);

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_REQUEST_CHECK_H_
