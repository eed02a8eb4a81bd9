// The times that RFC 3339 can write in UTC: the years 0000 to 9999.
#ifndef MANAGER_OBJECT_TIME_RANGE_H_
#define MANAGER_OBJECT_TIME_RANGE_H_

#include "absl/time/time.h"

namespace mandate {

inline bool IsInRfc3339Range(absl::Time time) {
  return time >= absl::FromUnixSeconds(-62'167'219'200) &&
         time < absl::FromUnixSeconds(253'402'300'800);
}

}  // namespace mandate

#endif  // MANAGER_OBJECT_TIME_RANGE_H_
