#include "controllers/fix_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace mandate {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

// Notes a successful fix, unless it must wait. Returns the wait.
absl::Duration Take(ObjectFixLimiter& limiter, const std::string& uid, absl::Time now) {
  const absl::Duration wait = limiter.WaitFor(uid, now);
  if (wait == absl::ZeroDuration()) limiter.NoteFix(uid, now);
  return wait;
}

TEST(ObjectFixLimiterTest, APersonsEditsAreFixedAtOnceAndAFightIsSlow) {
  ObjectFixLimiter limiter({.burst = 2});
  EXPECT_EQ(Take(limiter, "a", kStart), absl::ZeroDuration());
  EXPECT_EQ(Take(limiter, "a", kStart), absl::ZeroDuration());
  absl::Time now = kStart;
  // Each delay is twice the previous one, up to the maximum.
  for (const int seconds : {20, 40, 60, 60, 60}) {
    EXPECT_EQ(Take(limiter, "a", now), absl::Seconds(seconds));
    EXPECT_EQ(Take(limiter, "b", now + absl::Hours(seconds)), absl::ZeroDuration()) << "another";
    EXPECT_GT(Take(limiter, "a", now + absl::Seconds(seconds) / 2), absl::ZeroDuration());
    now += absl::Seconds(seconds);
    EXPECT_EQ(Take(limiter, "a", now), absl::ZeroDuration());
  }
  // After a quiet time the object has its burst again, and not more.
  now += absl::Hours(1);
  EXPECT_EQ(Take(limiter, "a", now), absl::ZeroDuration());
  EXPECT_EQ(Take(limiter, "a", now), absl::ZeroDuration());
  EXPECT_EQ(Take(limiter, "a", now), absl::Seconds(20));
}

TEST(FixLimitersTest, RevocationsAreSlowedLess) {
  for (const bool revoked : {false, true}) {
    FixLimiters limits;
    absl::Time now = kStart;
    absl::Duration longest;
    for (int i = 0; i < 20; ++i) {
      const absl::Duration wait = limits.WaitFor("a", now);
      EXPECT_TRUE(i >= ObjectFixLimiter::Options().burst || wait == absl::ZeroDuration());
      longest = std::max(longest, wait);
      now += wait;
      limits.NoteFix("a", revoked, now);
    }
    EXPECT_EQ(longest,
              revoked ? FixLimiters::kRevocationInterval : ObjectFixLimiter::Options().longest);
  }
}

TEST(ObjectFixLimiterTest, OnlyFixesThatAreTakenCount) {
  ObjectFixLimiter limiter({.burst = 1});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limiter.WaitFor("a", kStart), absl::ZeroDuration());
  limiter.NoteFix("a", kStart);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limiter.WaitFor("a", kStart), absl::Seconds(10));
}

TEST(ObjectFixLimiterTest, ItRemembersABoundedNumberOfObjects) {
  ObjectFixLimiter limiter({.burst = 1, .first = absl::Seconds(10), .max_objects = 2});
  EXPECT_EQ(Take(limiter, "fought", kStart + absl::Seconds(8)), absl::ZeroDuration());
  EXPECT_EQ(Take(limiter, "idle", kStart), absl::ZeroDuration());
  // The limiter forgets the idle object to make room.
  EXPECT_EQ(Take(limiter, "c", kStart + absl::Seconds(10)), absl::ZeroDuration());
  EXPECT_EQ(Take(limiter, "fought", kStart + absl::Seconds(10)), absl::Seconds(8));
  // If no object is idle, the limiter forgets all.
  EXPECT_EQ(Take(limiter, "d", kStart + absl::Seconds(11)), absl::ZeroDuration());
  EXPECT_EQ(Take(limiter, "fought", kStart + absl::Seconds(11)), absl::ZeroDuration());
}

}  // namespace
}  // namespace mandate
