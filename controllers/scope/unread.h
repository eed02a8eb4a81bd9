// Which failed reads last, so that what could be read besides is acted on meanwhile.
#ifndef CONTROLLERS_SCOPE_UNREAD_H_
#define CONTROLLERS_SCOPE_UNREAD_H_

#include "absl/status/status.h"

namespace mandate::scope {

// Whether the component may not read an object, or cannot decode it: until somebody mends that, it
// is not known. Other errors, such as a watch that opens again, end by themselves.
inline bool IsUnread(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsDataLoss(status);
}

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_UNREAD_H_
