// The check of a request before any Transport sends it.
#pragma once

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// kInvalidArgument if the request is not valid HTTP, or if it would not have exactly one
// credential: it has an Authorization header as well, an empty token, a client certificate that the
// endpoint does not have, or a line break that would add a header. The message never has the token.
absl::Status CheckRequest(const HttpRequest& request);

}  // namespace mandate
