#include "manager/identity/token_request.h"

#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

TEST(TokenRequestTest, WritesTheBody) {
  EXPECT_EQ(TokenRequestBody(absl::Hours(1), {}, ""),
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
            R"("spec":{"audiences":[],"expirationSeconds":3600}})");
  EXPECT_EQ(TokenRequestBody(absl::Minutes(10), {"a", "b\""}, "s"),
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
            R"("spec":{"audiences":["a","b\""],)"
            R"("boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"s"},)"
            R"("expirationSeconds":600}})");
}

TEST(TokenRequestTest, ReadsTheLifeFromTheSpecNotTheTimestamp) {
  const auto issued = ParseTokenResponse(
      R"({"kind":"TokenRequest","metadata":{"name":"sa","x":[1,{"token":"no"}]},)"
      R"("spec":{"audiences":["https://kubernetes"],"expirationSeconds":7200,"boundObjectRef":null},)"
      R"("status":{"token":"eyJ.a.b","expirationTimestamp":"1999-01-01T00:00:00Z"}})");
  ASSERT_TRUE(issued.ok()) << issued.status();
  EXPECT_EQ(issued->token.Reveal(), "eyJ.a.b");
  EXPECT_EQ(issued->life, absl::Hours(2));
}

TEST(TokenRequestTest, AcceptsALifeOfAMinuteToAYear) {
  const auto is_possible = [](int seconds) {
    return ParseTokenResponse("{\"spec\":{\"expirationSeconds\":" + std::to_string(seconds) +
                              "},\"status\":{\"token\":\"t\"}}")
        .ok();
  };
  EXPECT_FALSE(is_possible(59));
  EXPECT_TRUE(is_possible(60));
  EXPECT_TRUE(is_possible(366 * 24 * 3600));
  EXPECT_FALSE(is_possible(366 * 24 * 3600 + 1));
}

TEST(TokenRequestTest, RejectsInvalidResponsesWithoutQuotingThem) {
  for (const char* body : {
           "",
           "secret",
           "[]",
           R"({"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":null},"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":"secret"},"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":0},"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":-3600},"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":1e300},"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":99999999999},"status":{"token":"secret"}})",
           R"({"spec":{"expirationSeconds":3600},"status":{"token":""}})",
           R"({"spec":{"expirationSeconds":3600},"status":{}})",
           R"({"spec":{"expirationSeconds":3600}})",
           R"({"spec":{"expirationSeconds":3600},"status":{"token":"secret"}} secret)",
           R"({"spec":{"expirationSeconds":3600},"status":{"token":"secret)",
       }) {
    const auto issued = ParseTokenResponse(body);
    ASSERT_FALSE(issued.ok()) << body;
    EXPECT_EQ(issued.status().message().find("secret"), absl::string_view::npos) << issued.status();
  }
}

}  // namespace
}  // namespace mandate
