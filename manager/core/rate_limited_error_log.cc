#include "manager/core/rate_limited_error_log.h"

#include <utility>

namespace mandate {

void RateLimitedErrorLog::Note(std::string_view reason) {
  int64_t times;
  {
    MutexLock lock(mutex_);
    ++times_;
    const absl::Time now = clock_.TimeNow();
    if (now < next_) return;
    next_ = now + absl::Minutes(1);
    times = std::exchange(times_, 0);
  }
  log_.Error(message_, {{"reason", reason}, {"times", times}});
}

}  // namespace mandate
