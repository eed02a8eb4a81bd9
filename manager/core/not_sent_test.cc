#include "manager/core/not_sent.h"

#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(NotSentTest, MarksAnErrorAndNothingElse) {
  const absl::Status error = absl::UnavailableError("refused");
  EXPECT_FALSE(WasNotSent(error));
  const absl::Status marked = MarkNotSent(error);
  EXPECT_TRUE(WasNotSent(marked));
  EXPECT_EQ(marked.code(), error.code());
  EXPECT_EQ(marked.message(), error.message());
  EXPECT_TRUE(WasNotSent(MarkNotSent(marked)));
}

TEST(NotSentTest, OkIsNeverMarked) {
  EXPECT_TRUE(MarkNotSent(absl::OkStatus()).ok());
  EXPECT_FALSE(WasNotSent(MarkNotSent(absl::OkStatus())));
}

}  // namespace
}  // namespace mandate
