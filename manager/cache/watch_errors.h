// What a reflector must tell apart among the errors of LIST and WATCH.
#ifndef MANAGER_CACHE_WATCH_ERRORS_H_
#define MANAGER_CACHE_WATCH_ERRORS_H_

#include "absl/status/status.h"

namespace mandate {

// The server's cache is not as new as the resource version asked for: 504 with a cause.
bool IsTooLargeResourceVersion(const absl::Status& status);

// The resource version asked for is of no use any more: also 410.
bool IsExpired(const absl::Status& status);

// The component has no valid credential right now: 401, or no identity at all.
bool LacksIdentity(const absl::Status& status);

// The same request, sent again later, is the right answer: 429, no connection, no identity.
bool IsWorthRepeating(const absl::Status& status);

// The server does not speak the encoding that was asked for: 406.
bool IsNotAcceptable(const absl::Status& status);

// No server's: an answer was larger, or made of more pages, than is taken; or no room for a
// request.
bool IsOurBound(const absl::Status& status);

}  // namespace mandate

#endif  // MANAGER_CACHE_WATCH_ERRORS_H_
