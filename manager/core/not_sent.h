// The mark of a failed request that the server certainly did not act on: it may be sent again,
// whatever its method.
//
//   if (absl::IsUnavailable(status) && (request.idempotent || WasNotSent(status))) SendAgain();
#pragma once

#include "absl/status/status.h"

namespace mandate {

// `status` with the mark, in a payload: copies of the status keep it if they copy payloads. The
// caller knows that no byte of the request left this process, or that the server did not process
// the request (RFC 9113, 8.7). OK stays as it is.
absl::Status MarkNotSent(absl::Status status);

// False also means "unknown".
bool WasNotSent(const absl::Status& status);

}  // namespace mandate
