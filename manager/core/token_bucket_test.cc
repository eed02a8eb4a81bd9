#include "manager/core/token_bucket.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(TokenBucketTest, ABurstAndThenTheRate) {
  absl::Time now = absl::UnixEpoch();
  TokenBucket bucket({.per_second = 4, .burst = 2}, now);
  EXPECT_EQ(bucket.Wait(now), absl::ZeroDuration());
  bucket.Take(now);
  EXPECT_EQ(bucket.Wait(now), absl::ZeroDuration());
  bucket.Take(now);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(bucket.Wait(now), absl::Milliseconds(250));
    now += absl::Milliseconds(100);
    ASSERT_EQ(bucket.Wait(now), absl::Milliseconds(150));
    now += absl::Milliseconds(150);
    ASSERT_EQ(bucket.Wait(now), absl::ZeroDuration());
    bucket.Take(now);
  }
}

TEST(TokenBucketTest, AQuietTimeFillsTheBurstAndNoMore) {
  absl::Time now = absl::UnixEpoch();
  TokenBucket bucket({.per_second = 4, .burst = 2}, now);
  now += absl::Hours(1);
  bucket.Take(now);
  bucket.Take(now);
  EXPECT_EQ(bucket.Wait(now), absl::Milliseconds(250));
}

TEST(TokenBucketTest, ATimerThatIsEarlyByARoundingIsEnough) {
  absl::Time now = absl::UnixEpoch();
  TokenBucket bucket({.per_second = 3, .burst = 1}, now);
  bucket.Take(now);
  EXPECT_EQ(bucket.Wait(now + absl::Milliseconds(333.3)), absl::ZeroDuration());
}

}  // namespace
}  // namespace mandate
