// Logs an error that clients can cause as often as they like: at most one line a minute.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/log.h"
#include "manager/core/mutex.h"

namespace mandate {

// Thread-safe.
class RateLimitedErrorLog {
 public:
  // `message` and `clock` outlive it.
  RateLimitedErrorLog(std::string_view message, Logger log, const Clock& clock)
      : message_(message), log_(std::move(log)), clock_(clock) {}

  // Each line has the reason of this call, and how many calls there were since the last line.
  void Note(std::string_view reason);

 private:
  const std::string_view message_;
  const Logger log_;
  const Clock& clock_;
  Mutex mutex_;
  absl::Time next_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int64_t times_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mandate
