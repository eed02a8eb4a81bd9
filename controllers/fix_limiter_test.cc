#include "controllers/fix_limiter.h"

#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(FixLimiterTest, APersonsEditsAreFixedAtOnceAndAFightIsSlow) {
  FixLimiter limiter({.burst = 2});
  EXPECT_EQ(limiter.Take("a", kStart), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("a", kStart), absl::ZeroDuration());
  absl::Time now = kStart;
  // Each delay is twice the one before, up to the longest.
  for (const int seconds : {20, 40, 60, 60, 60}) {
    EXPECT_EQ(limiter.Take("a", now), absl::Seconds(seconds));
    EXPECT_EQ(limiter.Take("b", now + absl::Hours(seconds)), absl::ZeroDuration()) << "another";
    EXPECT_GT(limiter.Take("a", now + absl::Seconds(seconds) / 2), absl::ZeroDuration());
    now += absl::Seconds(seconds);
    EXPECT_EQ(limiter.Take("a", now), absl::ZeroDuration());
  }
  // After a quiet while it has its burst again, and no more.
  now += absl::Hours(1);
  EXPECT_EQ(limiter.Take("a", now), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("a", now), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("a", now), absl::Seconds(20));
}

TEST(FixLimiterTest, ItRemembersABoundedNumberOfObjects) {
  FixLimiter limiter({.burst = 1, .first = absl::Seconds(10), .max_objects = 2});
  EXPECT_EQ(limiter.Take("fought", kStart + absl::Seconds(8)), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("idle", kStart), absl::ZeroDuration());
  // Room is made by forgetting the idle one.
  EXPECT_EQ(limiter.Take("c", kStart + absl::Seconds(10)), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("fought", kStart + absl::Seconds(10)), absl::Seconds(8));
  // When all are fought over, all are forgotten.
  EXPECT_EQ(limiter.Take("d", kStart + absl::Seconds(11)), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("fought", kStart + absl::Seconds(11)), absl::ZeroDuration());
}

}  // namespace
}  // namespace mandate
