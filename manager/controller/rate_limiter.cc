#include "manager/controller/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mandate {
namespace {

class Exponential : public RateLimiter {
 public:
  Exponential(absl::Duration base, absl::Duration max) : base_(base), max_(max) {}

  absl::Duration When(const Request&, int failures, absl::Time) override {
    // The exponent is bounded so that the product stays finite.
    return std::min(base_ * std::ldexp(1.0, std::min(failures, 60)), max_);
  }

 private:
  const absl::Duration base_;
  const absl::Duration max_;
};

class FastSlow : public RateLimiter {
 public:
  FastSlow(absl::Duration fast, absl::Duration slow, int attempts)
      : fast_(fast), slow_(slow), attempts_(attempts) {}

  absl::Duration When(const Request&, int failures, absl::Time) override {
    return failures < attempts_ ? fast_ : slow_;
  }

 private:
  const absl::Duration fast_;
  const absl::Duration slow_;
  const int attempts_;
};

class Bucket : public RateLimiter {
 public:
  explicit Bucket(const BucketLimits& limits)
      : interval_(absl::Seconds(1) / limits.per_second), full_(interval_ * limits.burst) {}

  absl::Duration When(const Request&, int, absl::Time now) override {
    // A bucket that is full since `full_` ago has `burst` tokens; each takes one interval.
    next_ = std::max(next_, now - full_) + interval_;
    return std::max(absl::ZeroDuration(), next_ - now);
  }

 private:
  const absl::Duration interval_;
  const absl::Duration full_;
  absl::Time next_ = absl::InfinitePast();  // when the last token was or will be there
};

class Longest : public RateLimiter {
 public:
  explicit Longest(std::vector<std::shared_ptr<RateLimiter>> limiters)
      : limiters_(std::move(limiters)) {}

  absl::Duration When(const Request& request, int failures, absl::Time now) override {
    absl::Duration longest = absl::ZeroDuration();
    for (const auto& limiter : limiters_) {
      longest = std::max(longest, limiter->When(request, failures, now));
    }
    return longest;
  }

 private:
  const std::vector<std::shared_ptr<RateLimiter>> limiters_;
};

}  // namespace

std::shared_ptr<RateLimiter> ExponentialLimiter(absl::Duration base, absl::Duration max) {
  return std::make_shared<Exponential>(base, max);
}

std::shared_ptr<RateLimiter> FastSlowLimiter(absl::Duration fast, absl::Duration slow,
                                             int attempts) {
  return std::make_shared<FastSlow>(fast, slow, attempts);
}

std::shared_ptr<RateLimiter> BucketLimiter(const BucketLimits& limits) {
  return std::make_shared<Bucket>(limits);
}

std::shared_ptr<RateLimiter> MaxOf(std::vector<std::shared_ptr<RateLimiter>> limiters) {
  return std::make_shared<Longest>(std::move(limiters));
}

}  // namespace mandate
