#include "manager/controller/rate_limiter.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace mandate {
namespace {

using absl::Milliseconds;
using absl::Seconds;

const Request kRequest = {{"web", "x"}};
const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

TEST(RateLimiterTest, ExponentialDoublesUpToItsLimit) {
  const auto limiter = ExponentialLimiter(Milliseconds(5), Seconds(1));
  const struct {
    int failures;
    absl::Duration delay;
  } kCases[] = {{0, Milliseconds(5)},
                {1, Milliseconds(10)},
                {7, Milliseconds(640)},
                {8, Seconds(1)},
                {std::numeric_limits<int>::max(), Seconds(1)}};
  for (const auto& c : kCases) {
    EXPECT_EQ(limiter->When(kRequest, c.failures, kStart), c.delay) << c.failures;
  }
}

TEST(RateLimiterTest, FastSlowChangesAfterSomeAttempts) {
  const auto limiter = FastSlowLimiter(Milliseconds(10), Seconds(30), 2);
  EXPECT_EQ(limiter->When(kRequest, 0, kStart), Milliseconds(10));
  EXPECT_EQ(limiter->When(kRequest, 1, kStart), Milliseconds(10));
  EXPECT_EQ(limiter->When(kRequest, 2, kStart), Seconds(30));
}

TEST(RateLimiterTest, ABucketAllowsItsBurstAndThenItsRate) {
  const auto limiter = BucketLimiter({.per_second = 10, .burst = 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limiter->When(kRequest, 0, kStart), absl::ZeroDuration()) << i;
  }
  EXPECT_EQ(limiter->When(kRequest, 0, kStart), Milliseconds(100));
  EXPECT_EQ(limiter->When({{"web", "another"}}, 0, kStart), Milliseconds(200)) << "they share it";
  // The two above have taken what came since, and one more does now.
  EXPECT_EQ(limiter->When(kRequest, 0, kStart + Milliseconds(300)), absl::ZeroDuration());
  EXPECT_EQ(limiter->When(kRequest, 0, kStart + Milliseconds(300)), Milliseconds(100));
  // It fills up, but not beyond its burst.
  const absl::Time later = kStart + Seconds(3600);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limiter->When(kRequest, 0, later), absl::ZeroDuration()) << i;
  }
  EXPECT_EQ(limiter->When(kRequest, 0, later), Milliseconds(100));
}

TEST(RateLimiterTest, MaxOfIsTheLongest) {
  const auto limiter = MaxOf({ExponentialLimiter(Milliseconds(5), Seconds(1)),
                              BucketLimiter({.per_second = 10, .burst = 1})});
  EXPECT_EQ(limiter->When(kRequest, 0, kStart), Milliseconds(5));
  EXPECT_EQ(limiter->When(kRequest, 1, kStart), Milliseconds(100));
  EXPECT_EQ(limiter->When(kRequest, 20, kStart), Seconds(1));
  EXPECT_EQ(MaxOf({})->When(kRequest, 3, kStart), absl::ZeroDuration());
}

}  // namespace
}  // namespace mandate
