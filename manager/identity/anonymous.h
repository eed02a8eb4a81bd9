// Detects a credential that was lost on the way to the server.
#pragma once

#include "absl/status/status.h"

namespace mandate {

// Whether `status` is the API server's own 403 to a request of system:anonymous. The server saw no
// credential, or an empty one; it does not answer 401 when anonymous access is on. That is a lost
// credential, not a missing permission. A 403 that only quotes the name, such as a denial by an
// admission policy, does not count.
bool IsAnonymous(const absl::Status& status);

}  // namespace mandate
