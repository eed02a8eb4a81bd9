// The rows of testing/conformance/rows/access_tokens.yaml test the errors and the response.
#include "testing/apiserver/access/token_issuer.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;

class TokenIssuerTest : public ::testing::Test {
 protected:
  TokenIssuerTest() {
    const auto put = [&](const char* resource, const char* json) {
      objects_.Put({.group = "", .resource = resource}, json);
    };
    put("namespaces", R"({"metadata":{"name":"ops"}})");
    put("serviceaccounts", R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-1"}})");
    put("secrets", R"({"metadata":{"namespace":"ops","name":"switch","uid":"secret-1"}})");
    put("nodes", R"({"metadata":{"name":"worker","uid":"node-1"}})");
    put("pods", R"({"metadata":{"namespace":"ops","name":"own","uid":"pod-1"},
        "spec":{"serviceAccountName":"builder","nodeName":"worker"}})");
    request_.attributes.ns = "ops";
    request_.attributes.name = "builder";
  }

  Json::Value Issue(std::string_view object, absl::Duration max_life = absl::ZeroDuration()) {
    const TokenIssuer issuer(max_life, authenticator_, [] { return "jti-1"; });
    return issuer.Issue(request_, ParseJson(object).value()).value();
  }
  static TokenClaims Claims(const Json::Value& answer) {
    return OpenToken(answer["status"]["token"].asString(), kSigningKey).value();
  }

  ObjectTable objects_;
  SimulatedClock clock_;  // 2023-11-14T22:13:20Z
  Authenticator authenticator_{{}, objects_, clock_};
  Request request_;
};

TEST_F(TokenIssuerTest, DefaultLifeIsOneHour) {
  const Json::Value answer = Issue("{}");
  EXPECT_EQ(answer["metadata"]["creationTimestamp"].asString(), "2023-11-14T22:13:20Z");
  EXPECT_EQ(answer["status"]["expirationTimestamp"].asString(), "2023-11-14T23:13:20Z");
  EXPECT_EQ(Claims(answer).expires - Claims(answer).issued, absl::Hours(1));
}

TEST_F(TokenIssuerTest, BindsToSecretPodOrNode) {
  const auto bound = [&](const std::string& kind, const std::string& name) {
    return Claims(Issue(R"({"spec":{"boundObjectRef":{"kind":")" + kind +
                        R"(","apiVersion":"v1","name":")" + name + R"("}}})"));
  };
  EXPECT_EQ(bound("Secret", "switch").secret, (NameAndUid{"switch", "secret-1"}));
  EXPECT_EQ(bound("Node", "worker").node, (NameAndUid{"worker", "node-1"}));
  EXPECT_EQ(bound("Pod", "own").pod, (NameAndUid{"own", "pod-1"}));
  EXPECT_EQ(bound("Pod", "own").node, (NameAndUid{"worker", "node-1"}));
  objects_.Delete({.group = "", .resource = "nodes"}, "", "worker");
  EXPECT_EQ(bound("Pod", "own").node, (NameAndUid{"worker", ""}));
}

TEST_F(TokenIssuerTest, ProjectedTokenOfPodIsValidForAYear) {
  const auto life = [&](const char* ref) {
    const Json::Value answer =
        Issue(std::string(R"({"spec":{"expirationSeconds":3607)") + ref + "}}");
    EXPECT_EQ(answer["status"]["expirationTimestamp"].asString(), "2023-11-14T23:13:27Z");
    const TokenClaims claims = Claims(answer);
    return claims.expires - claims.issued;
  };
  EXPECT_EQ(life(R"(,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"own"})"),
            absl::Hours(24 * 365));
  EXPECT_EQ(life(""), absl::Seconds(3607));
}

TEST_F(TokenIssuerTest, MaxLifeShortensWithAWarning) {
  const Json::Value answer = Issue("{}", absl::Seconds(1000));
  EXPECT_EQ(answer["spec"]["expirationSeconds"].asInt(), 1000);
  EXPECT_THAT(request_.notes->warnings,
              ElementsAre("requested expiration of 3600 seconds shortened to 1000 seconds"));
}

}  // namespace
}  // namespace mandate::apiserver
