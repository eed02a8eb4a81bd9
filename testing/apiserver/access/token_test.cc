#include "testing/apiserver/access/token.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

TokenClaims Claims() {
  return {.issuer = "https://issuer",
          .jti = "1234",
          .audiences = {"a", "b"},
          .issued = absl::FromUnixSeconds(1'700'000'000),
          .expires = absl::FromUnixSeconds(1'700'003'600),
          .ns = "ops",
          .service_account = {.name = "builder", .uid = "u1"},
          .pod = std::nullopt,
          .secret = NameAndUid{.name = "switch", .uid = "u2"},
          .node = std::nullopt};
}

TEST(TokenTest, OpenReversesSign) {
  TokenClaims bound_to_pod = Claims();
  bound_to_pod.secret = std::nullopt;
  bound_to_pod.pod = NameAndUid{.name = "web-1", .uid = "u3"};
  bound_to_pod.node = NameAndUid{.name = "node-1", .uid = "u4"};
  TokenClaims unbound = Claims();
  unbound.secret = std::nullopt;
  unbound.audiences = {};
  for (const TokenClaims& claims : {Claims(), bound_to_pod, unbound}) {
    const auto opened = OpenToken(SignToken(claims, "key"), "key");
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(*opened, claims);
  }
}

TEST(TokenTest, PayloadHasTheClaimsOfAKubernetesToken) {
  const std::string token = SignToken(Claims(), "key");
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  ASSERT_EQ(parts.size(), 3u);
  std::string payload;
  ASSERT_TRUE(absl::WebSafeBase64Unescape(parts[1], &payload));
  EXPECT_EQ(payload,
            R"({"aud":["a","b"],"exp":1700003600,"iat":1700000000,"iss":"https://issuer",)"
            R"("jti":"1234","kubernetes.io":{"namespace":"ops","secret":{"name":"switch",)"
            R"("uid":"u2"},"serviceaccount":{"name":"builder","uid":"u1"}},"nbf":1700000000,)"
            R"("sub":"system:serviceaccount:ops:builder"})");
}

TEST(TokenTest, RejectsOtherKeysAndForgedText) {
  const std::string token = SignToken(Claims(), "key");
  std::string forged = token;
  forged[forged.find('.') + 5] ^= 1;
  for (const std::string& text :
       {SignToken(Claims(), "another key"), forged, token + "A", token.substr(0, token.size() - 1),
        std::string("opaque"), std::string("a.b.c"), std::string("."), std::string()}) {
    EXPECT_FALSE(OpenToken(text, "key").ok()) << text;
  }
}

}  // namespace
}  // namespace mandate::apiserver
