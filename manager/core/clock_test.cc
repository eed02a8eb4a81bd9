#include "manager/core/clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/time/clock.h"

namespace mandate {
namespace {

TEST(ClockTest, TheRealOneIsOneForEveryThread) {
  const Clock* elsewhere = nullptr;
  std::thread([&] { elsewhere = &Clock::Real(); }).join();
  EXPECT_EQ(elsewhere, &Clock::Real());
}

TEST(ClockTest, NeverGoesBackAndGoesOn) {
  const Clock& clock = Clock::Real();
  const absl::Time start = clock.TimeNow();
  absl::Time last = start;
  for (int i = 0; i < 100'000; ++i) {
    const absl::Time now = clock.TimeNow();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, start);
}

TEST(ClockTest, IsTheSameOnEveryThread) {
  absl::Time last = Clock::Real().TimeNow();
  for (int i = 0; i < 10; ++i) {
    absl::Time elsewhere;
    std::thread([&] { elsewhere = Clock::Real().TimeNow(); }).join();
    ASSERT_GE(elsewhere, last);
    last = Clock::Real().TimeNow();
    ASSERT_GE(last, elsewhere);
  }
}

TEST(ClockTest, BeginsAtTheWall) {
  // The bound is loose, because the machine's time may be corrected meanwhile.
  const absl::Duration drift = Clock::Real().TimeNow() - absl::Now();
  EXPECT_LT(absl::AbsDuration(drift), absl::Minutes(10));
  const absl::Duration error = Clock::Real().WallTimeNow() - absl::Now();
  EXPECT_LT(absl::AbsDuration(error), absl::Minutes(10));
}

}  // namespace
}  // namespace mandate
