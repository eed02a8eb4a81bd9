// When a credential was lost on the way.
#ifndef MANAGER_IDENTITY_ANONYMOUS_H_
#define MANAGER_IDENTITY_ANONYMOUS_H_

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "manager/object/api_error.h"

namespace mandate {

// A 403 that names system:anonymous: the server saw no credential, or an empty one, and with
// anonymous access on it does not answer 401. That is a lost credential, not a missing permission.
inline bool IsAnonymous(const absl::Status& status) {
  return IsForbidden(status) && absl::StrContains(status.message(), "\"system:anonymous\"");
}

}  // namespace mandate

#endif  // MANAGER_IDENTITY_ANONYMOUS_H_
