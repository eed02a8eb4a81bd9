// Read errors that last until a person fixes their cause. Reconcilers act on the rest meanwhile.
#ifndef CONTROLLERS_SCOPE_UNREAD_H_
#define CONTROLLERS_SCOPE_UNREAD_H_

#include "absl/status/status.h"

namespace mandate::scope {

// The component is not allowed to read an object, or cannot decode it. Other errors, such as those
// of a watch that is being reopened, end by themselves.
inline bool IsUnread(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsDataLoss(status);
}

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_UNREAD_H_
