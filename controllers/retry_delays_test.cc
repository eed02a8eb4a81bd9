#include "controllers/retry_delays.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(RetryDelaysTest, DoublesToItsBoundForEachObject) {
  RetryDelays delays;
  const ObjectKey a{"", "a"}, b{"", "b"};
  EXPECT_EQ(delays.Next(a), absl::Seconds(10));
  EXPECT_EQ(delays.Next(a), absl::Seconds(20));
  EXPECT_EQ(delays.Next(b), absl::Seconds(10));
  EXPECT_EQ(delays.Next(a), absl::Seconds(40));
  EXPECT_EQ(delays.Next(a), absl::Minutes(1));
  EXPECT_EQ(delays.Next(a), absl::Minutes(1));
  delays.Reset(a);
  EXPECT_EQ(delays.Next(a), absl::Seconds(10));
  EXPECT_EQ(delays.Next(b), absl::Seconds(20));
}

}  // namespace
}  // namespace mandate
