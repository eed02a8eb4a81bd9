#include "manager/admission/review_envelope.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(ReadReviewEnvelope, MeasuresTheUser) {
  const struct {
    const char* request;
    size_t bytes;
  } kCases[] = {
      {"{}", 0},
      {R"({"userInfo":{}})", 2},
      {R"({"uid":"u","userInfo":{"groups":["a"]},"object":{"userInfo":[1,2]}})", 16},
      {R"({"userInfo":"abc"})", 5},
      {R"({"user\u0049nfo":{"uid":"7"}})", 11},
      {R"({"userInfo":{},"userInfo":[]})", 4},
      {"[]", 0},
  };
  for (const auto& c : kCases) {
    const std::string body = std::string(R"({"request": )") + c.request + R"(,"kind":"K"})";
    const auto review = ReadReviewEnvelope(body);
    ASSERT_TRUE(review.ok()) << review.status();
    EXPECT_EQ(review->user_info_bytes, c.bytes) << body;
    EXPECT_EQ(review->request, c.request);
  }
}

TEST(ReadReviewEnvelope, RejectsWhatIsNotAReview) {
  for (const char* body : {"", "[]", "{", R"({"kind":1})", R"({"apiVersion":{}})", "{} {}",
                           R"({"request":{"a":1)", R"({"request":{"userInfo":}})"}) {
    EXPECT_EQ(ReadReviewEnvelope(body).status().code(), absl::StatusCode::kInvalidArgument) << body;
  }
}

}  // namespace
}  // namespace mandate
