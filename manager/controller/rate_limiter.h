// When failed requests are tried again, for controllers that need another rhythm than the default.
//
//   .WithOptions({.queue = {.rate_limiter = MaxOf({ExponentialLimiter(), BucketLimiter({})})}})
#pragma once

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "manager/controller/request.h"

namespace mandate {

// Called by the queue of one controller, one call after the other.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // The delay of the next retry of `request`, before which `failures` retries in a row have failed,
  // too (0: it has failed for the first time). Not negative. `now` never goes back.
  virtual absl::Duration When(const Request& request, int failures, absl::Time now) = 0;
};

// `base`, doubled with each further failure of the request, up to `max`. The default of a queue.
std::shared_ptr<RateLimiter> ExponentialLimiter(absl::Duration base = absl::Milliseconds(5),
                                                absl::Duration max = absl::Seconds(1000));

// `fast` for the first `attempts` retries of a request, then `slow`.
std::shared_ptr<RateLimiter> FastSlowLimiter(absl::Duration fast, absl::Duration slow,
                                             int attempts);

// A token bucket of all requests of the controller: `per_second` retries, and `burst` at once.
struct BucketLimits {
  double per_second = 10;
  int burst = 100;
};
std::shared_ptr<RateLimiter> BucketLimiter(const BucketLimits& limits);

// The longest delay of all. Each of them counts the retry.
std::shared_ptr<RateLimiter> MaxOf(std::vector<std::shared_ptr<RateLimiter>> limiters);

}  // namespace mandate
