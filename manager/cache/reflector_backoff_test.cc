#include "manager/cache/reflector_backoff.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "manager/object/api_error.h"

namespace mandate {
namespace {

class ReflectorBackoffTest : public ::testing::Test {
 protected:
  // Without jitter, so that waits are known.
  ReflectorBackoffTest() {
    options_.backoff = {
        .initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(8), .jitter = 0};
    options_.forbidden_backoff = {
        .initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(60), .jitter = 0};
    options_.absent_backoff = {
        .initial = absl::Seconds(2), .factor = 2, .max = absl::Seconds(30), .jitter = 0};
    options_.backoff_reset = absl::Minutes(2);
  }

  absl::Duration Fail(absl::Duration at, const absl::Status& why = absl::UnavailableError("")) {
    return backoff().AfterFailure(why, start_ + at);
  }
  ReflectorBackoff& backoff() {
    if (!backoff_.has_value()) backoff_.emplace(options_, random_);
    return *backoff_;
  }

  const absl::Time start_ = absl::FromUnixSeconds(1'700'000'000);
  ReflectorOptions options_;
  std::mt19937_64 random_;
  std::optional<ReflectorBackoff> backoff_;
};

TEST_F(ReflectorBackoffTest, FailuresWaitLongerUntilAQuietPeriod) {
  EXPECT_EQ(Fail(absl::ZeroDuration()), absl::Seconds(1));
  EXPECT_EQ(Fail(absl::Seconds(1)), absl::Seconds(2));
  EXPECT_EQ(Fail(absl::Seconds(3)), absl::Seconds(4));
  EXPECT_EQ(Fail(absl::Seconds(7)), absl::Seconds(8));
  EXPECT_EQ(Fail(absl::Seconds(15)), absl::Seconds(8)) << "the most";
  EXPECT_EQ(Fail(absl::Seconds(135)), absl::Seconds(8)) << "two minutes: not more";
  EXPECT_EQ(Fail(absl::Seconds(256)), absl::Seconds(1));
}

// A server that is restarted again and again.
TEST_F(ReflectorBackoffTest, AWatchLongerThanTheLastDelayResetsTheBackoff) {
  const absl::Status gone = StatusFromResponse(410, "");
  for (int i = 0; i < 5; ++i) Fail(absl::Seconds(i));
  Fail(absl::Seconds(5), gone);
  ASSERT_EQ(Fail(absl::Seconds(6), gone), absl::Seconds(2));
  backoff().AfterWatch(absl::Seconds(2));
  EXPECT_EQ(Fail(absl::Seconds(10)), absl::Seconds(8)) << "no longer than the last delay";
  EXPECT_EQ(Fail(absl::Seconds(18), gone), absl::Seconds(4));
  backoff().AfterWatch(absl::Seconds(5));
  EXPECT_EQ(Fail(absl::Seconds(27)), absl::Seconds(1));
  EXPECT_EQ(Fail(absl::Seconds(28), gone), absl::Seconds(1));
}

TEST_F(ReflectorBackoffTest, RetryAfterMayOnlyLengthenAWait) {
  const auto asked = [](int code, absl::Duration wait) {
    return StatusFromResponse(code, "", wait);
  };
  EXPECT_EQ(Fail(absl::ZeroDuration(), asked(429, absl::Seconds(17))), absl::Seconds(17));
  EXPECT_EQ(Fail(absl::Seconds(17), asked(503, absl::Seconds(1))), absl::Seconds(2));
  EXPECT_EQ(Fail(absl::Seconds(19), asked(429, absl::Seconds(100))), absl::Seconds(100));
  EXPECT_EQ(Fail(absl::Seconds(119)), absl::Seconds(8)) << "what was asked for counts as a failure";
}

// After an outage a watch from the last version often ends with 410: the list that follows must not
// wait as long as the last attempt of the outage.
TEST_F(ReflectorBackoffTest, ExpiredVersionsHaveTheirOwnBackoff) {
  const absl::Status gone = StatusFromResponse(410, "");
  for (int i = 0; i < 5; ++i) Fail(absl::Seconds(i));
  EXPECT_EQ(Fail(absl::Seconds(5), gone), absl::Seconds(1));
  EXPECT_EQ(Fail(absl::Seconds(6), gone), absl::Seconds(2)) << "again and again: longer each time";
  EXPECT_EQ(Fail(absl::Seconds(8), gone), absl::Seconds(4));
  EXPECT_EQ(Fail(absl::Seconds(12)), absl::Seconds(8)) << "the outage's own waits go on";
  EXPECT_EQ(Fail(absl::Seconds(133), gone), absl::Seconds(1)) << "there were none for a while";
}

TEST_F(ReflectorBackoffTest, DenialsAndAbsentKindsHaveTheirOwnBackoffs) {
  EXPECT_EQ(backoff().WhileForbidden(), absl::Seconds(1));
  EXPECT_EQ(backoff().WhileForbidden(), absl::Seconds(2));
  EXPECT_EQ(backoff().WhileAbsent(), absl::Seconds(2));
  EXPECT_EQ(Fail(absl::ZeroDuration()), absl::Seconds(1));
  EXPECT_EQ(backoff().WhileAbsent(), absl::Seconds(4));
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(backoff().WhileForbidden(), absl::Seconds(60));
    EXPECT_LE(backoff().WhileAbsent(), absl::Seconds(30));
  }
  backoff().ResetAccess();
  EXPECT_EQ(backoff().WhileForbidden(), absl::Seconds(1));
  EXPECT_EQ(backoff().WhileAbsent(), absl::Seconds(2));
  EXPECT_EQ(Fail(absl::Seconds(1)), absl::Seconds(2)) << "a failure is none of access";
}

TEST_F(ReflectorBackoffTest, JitterMakesAWaitLonger) {
  options_.backoff.jitter = 0.5;
  options_.backoff.factor = 1;
  bool longer = false;
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration wait = Fail(absl::ZeroDuration());
    EXPECT_GE(wait, absl::Seconds(1));
    EXPECT_LT(wait, absl::Milliseconds(1500));
    longer = longer || wait > absl::Milliseconds(1250);
  }
  EXPECT_TRUE(longer);
}

}  // namespace
}  // namespace mandate
