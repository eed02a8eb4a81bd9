#include "manager/client/too_large.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(TooLargeTest, OnlyAMarkedStatusIs) {
  const absl::Status other = absl::ResourceExhaustedError("64 requests wait for a connection");
  EXPECT_FALSE(IsTooLarge(other));
  EXPECT_FALSE(IsTooLarge(absl::OkStatus()));
  const absl::Status marked = MarkTooLarge(absl::ResourceExhaustedError("larger than 8 MiB"));
  EXPECT_TRUE(IsTooLarge(marked));
  EXPECT_EQ(marked.message(), "larger than 8 MiB");
}

}  // namespace
}  // namespace mandate
