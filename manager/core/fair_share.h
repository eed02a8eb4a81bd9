// How a budget is split among users that are not known beforehand.
#ifndef MANAGER_CORE_FAIR_SHARE_H_
#define MANAGER_CORE_FAIR_SHARE_H_

#include <cstddef>

namespace mandate {

// A user may have at most `times` times what is left free (Choudhury and Hahne, "Dynamic queue
// length thresholds", 1998): of 100 places, with `times` = 4, one user alone gets 80, the next one
// that wants all gets 16, and so on. A user that has nothing gets the first place that is free.
// When users have taken too much for a newcomer, the places that they give back are the newcomer's.

// Whether a user that has `used` may take one of `free`. The last `kept` of these are for users
// that have one at most.
constexpr bool MayTakeShare(size_t used, size_t free, size_t times, size_t kept = 0) {
  if (used > 1) free -= free < kept ? free : kept;
  return used < times * free;
}

// How many of `free` it may take, one after the other.
constexpr size_t ShareLeft(size_t used, size_t free, size_t times) {
  return MayTakeShare(used, free, times) ? (times * free - used + times) / (times + 1) : 0;
}

}  // namespace mandate

#endif  // MANAGER_CORE_FAIR_SHARE_H_
