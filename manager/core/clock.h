// Time, injected. Only manager/core reads the machine's clock.
#pragma once

#include "absl/time/time.h"

namespace mandate {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic, for deadlines, timers and lifetimes. It starts at the machine's wall time, so that
  // it prints sensibly, and is not adjusted afterwards. It stands still while the machine is
  // suspended: a token may then be used once after it has expired.
  virtual absl::Time TimeNow() const = 0;

  // The machine's wall clock: only for timestamps that people or other machines read.
  virtual absl::Time WallTimeNow() const = 0;

  // The process's real clock.
  static const Clock& Real();
};

}  // namespace mandate
