// When a credential was lost on the way.
#ifndef MANAGER_IDENTITY_ANONYMOUS_H_
#define MANAGER_IDENTITY_ANONYMOUS_H_

#include "absl/status/status.h"

namespace mandate {

// Whether `status` is the API server's own 403 to a request of system:anonymous: the server saw no
// credential, or an empty one, and with anonymous access on it does not answer 401. That is a lost
// credential, not a missing permission. A 403 that only quotes the name, as the denial of an
// admission policy may, is not one.
bool IsAnonymous(const absl::Status& status);

}  // namespace mandate

#endif  // MANAGER_IDENTITY_ANONYMOUS_H_
