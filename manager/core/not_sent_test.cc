#include "manager/core/not_sent.h"

#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(NotSentTest, MarksAnErrorAndNothingElse) {
  const absl::Status error = absl::UnavailableError("refused");
  EXPECT_FALSE(WasNotSent(error));
  const absl::Status marked = NotSent(error);
  EXPECT_TRUE(WasNotSent(marked));
  EXPECT_EQ(marked.code(), error.code());
  EXPECT_EQ(marked.message(), error.message());
  EXPECT_TRUE(WasNotSent(NotSent(marked)));
}

TEST(NotSentTest, OkIsNeverMarked) {
  EXPECT_TRUE(NotSent(absl::OkStatus()).ok());
  EXPECT_FALSE(WasNotSent(NotSent(absl::OkStatus())));
}

}  // namespace
}  // namespace mandate
