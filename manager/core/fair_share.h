// Splits a budget among users that are not known in advance.
#pragma once

#include <cstddef>

namespace mandate {

// A user may have at most `times` times the free places (Choudhury and Hahne, "Dynamic queue length
// thresholds", 1998). For example, with 100 places and `times` = 4, one user alone gets 80, a
// second one that wants all gets 16, and so on. A user without a place gets the first free one, so
// a new user gets the places that others return.

// Whether a user with `used` places may take one of the `free` places. The last `kept` free places
// are reserved for users with at most one.
constexpr bool MayTakeShare(size_t used, size_t free, size_t times, size_t kept = 0) {
  if (used > 1) free -= free < kept ? free : kept;
  return used < times * free;
}

// The number of `free` places that the user may take one after the other.
constexpr size_t ShareLeft(size_t used, size_t free, size_t times) {
  return MayTakeShare(used, free, times) ? (times * free - used + times) / (times + 1) : 0;
}

}  // namespace mandate
