#include "manager/client/ambiguous.h"

#include <gtest/gtest.h>

#include "manager/core/not_sent.h"

namespace mandate {
namespace {

TEST(AmbiguousTest, OnlyMarkedErrorsAreAmbiguous) {
  const absl::Status lost = absl::UnavailableError("the connection is lost");
  EXPECT_FALSE(IsAmbiguous(lost));
  EXPECT_FALSE(IsAmbiguous(absl::OkStatus()));
  EXPECT_FALSE(IsAmbiguous(NotSent(lost)));
  const absl::Status marked = Ambiguous(lost);
  EXPECT_TRUE(IsAmbiguous(marked));
  EXPECT_EQ(marked.code(), lost.code());
  EXPECT_EQ(marked.message(), lost.message());
}

TEST(AmbiguousTest, TheMarkKeepsOtherPayloads) {
  absl::Status lost = absl::UnavailableError("the connection is lost");
  lost.SetPayload("other", absl::Cord("x"));
  EXPECT_EQ(Ambiguous(lost).GetPayload("other"), absl::Cord("x"));
}

TEST(AmbiguousTest, AnAmbiguousErrorWasSent) {
  const absl::Status marked = Ambiguous(NotSent(absl::UnavailableError("no connection")));
  EXPECT_TRUE(IsAmbiguous(marked));
  EXPECT_FALSE(WasNotSent(marked));
  EXPECT_EQ(marked.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(marked.message(), "no connection");
}

}  // namespace
}  // namespace mandate
