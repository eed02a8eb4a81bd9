#include "manager/core/rate_limited_error_log.h"

#include <gtest/gtest.h>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

TEST(RateLimitedErrorLogTest, LogsOneLineAMinute) {
  SimulatedClock clock;
  auto log = std::make_shared<LogCapture>();
  RateLimitedErrorLog error("Too many", Logger(log, clock), clock);
  for (const char* reason : {"a", "b", "c"}) error.Note(reason);
  EXPECT_EQ(log->Count("Too many"), 1);
  EXPECT_EQ(log->Count("reason=a times=1"), 1);
  clock.AdvanceTo(clock.TimeNow() + absl::Seconds(59));
  error.Note("d");
  EXPECT_EQ(log->Count("Too many"), 1);
  clock.AdvanceTo(clock.TimeNow() + absl::Seconds(1));
  error.Note("e");
  EXPECT_EQ(log->Count("reason=e times=4"), 1);
}

}  // namespace
}  // namespace mandate
