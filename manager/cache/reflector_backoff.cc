#include "manager/cache/reflector_backoff.h"

#include <algorithm>

#include "manager/object/api_error.h"

namespace mandate {

ReflectorBackoff::ReflectorBackoff(const ReflectorOptions& options, std::mt19937_64& random)
    : reset_(options.backoff_reset),
      random_(random),
      common_(options.backoff),
      expired_(options.backoff),
      forbidden_(options.forbidden_backoff),
      absent_(options.absent_backoff) {}

absl::Duration ReflectorBackoff::AfterFailure(const absl::Status& why, absl::Time now) {
  if (now - last_ > reset_) {
    common_.Reset();
    expired_.Reset();
  }
  last_ = now;
  Backoff& backoff = IsGone(why) ? expired_ : common_;
  last_delay_ = std::max(backoff.Next(random_), RetryAfter(why).value_or(absl::ZeroDuration()));
  return last_delay_;
}

void ReflectorBackoff::Granted() {
  forbidden_.Reset();
  absent_.Reset();
}

void ReflectorBackoff::AfterWatch(absl::Duration open) {
  if (open <= last_delay_) return;
  common_.Reset();
  expired_.Reset();
}

void ReflectorBackoff::ResetAccess() {
  forbidden_.Reset();
  absent_.Reset();
}

}  // namespace mandate
