#include "manager/admission/review_envelope.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ReadReviewEnvelope, FindsItsMembersInAnyOrder) {
  const auto review =
      ReadReviewEnvelope(R"({"request":{"uid":"u"},"more":[1],"kind":"K","apiVersion":"g/v1"})");
  ASSERT_TRUE(review.ok()) << review.status();
  EXPECT_EQ(review->api_version, "g/v1");
  EXPECT_EQ(review->kind, "K");
  EXPECT_EQ(review->request, R"({"uid":"u"})");
  EXPECT_EQ(ReadReviewEnvelope(R"({"request":null})")->request, "");
  EXPECT_EQ(ReadReviewEnvelope("{}")->request, "");
}

TEST(ReadReviewEnvelope, RejectsWhatIsNotAReview) {
  for (const char* body : {"", "[]", "{", R"({"kind":1})", R"({"apiVersion":{}})", "{} {}"}) {
    EXPECT_EQ(ReadReviewEnvelope(body).status().code(), absl::StatusCode::kInvalidArgument) << body;
  }
}

}  // namespace
}  // namespace mandate
