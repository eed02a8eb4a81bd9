// Time, injected. Nothing outside manager/core asks the machine what time it is.
#ifndef MANAGER_CORE_CLOCK_H_
#define MANAGER_CORE_CLOCK_H_

#include "absl/time/time.h"

namespace mandate {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Never goes back and knows no adjustments: for deadlines, timers and lifetimes. It starts at the
  // machine's wall time, so that it prints sensibly, and drifts from it as the wall is adjusted. It
  // stands still while the machine is suspended: a token may then be used after its end, once.
  virtual absl::Time TimeNow() const = 0;

  // The machine's wall clock: only for timestamps that people or other machines read.
  virtual absl::Time WallTimeNow() const = 0;

  // The process's real clock.
  static const Clock& Real();
};

}  // namespace mandate

#endif  // MANAGER_CORE_CLOCK_H_
