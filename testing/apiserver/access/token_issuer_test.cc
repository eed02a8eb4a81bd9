#include "testing/apiserver/access/token_issuer.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
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
    put("pods", R"({"metadata":{"namespace":"ops","name":"another","uid":"pod-2"},
        "spec":{"serviceAccountName":"default"}})");
    request_.attributes.ns = "ops";
    request_.attributes.name = "builder";
  }

  absl::StatusOr<Json::Value> Issue(std::string_view object, TokenIssuerOptions options = {}) {
    const TokenIssuer issuer(options, authenticator_, [] { return "jti-1"; });
    return issuer.Issue(request_, ParseJson(object).value());
  }
  std::string Message(const absl::StatusOr<Json::Value>& answer) {
    return ApiStatus(answer.status()) ? ApiStatus(answer.status())->message() : "none";
  }
  TokenClaims Claims(const Json::Value& answer) {
    return OpenToken(answer["status"]["token"].asString(), authenticator_.options().signing_key)
        .value();
  }

  ObjectTable objects_;
  SimulatedClock clock_;  // 2023-11-14T22:13:20Z
  Authenticator authenticator_{{}, objects_, clock_};
  Request request_;
};

TEST_F(TokenIssuerTest, IssuesATokenForAnHourToTheServer) {
  const auto answer = Issue("{}");
  ASSERT_TRUE(answer.ok()) << answer.status();
  const std::string token = (*answer)["status"]["token"].asString();
  Json::Value shown = *answer;
  shown["status"]["token"] = "…";
  EXPECT_EQ(WriteJson(shown),
            R"({"metadata":{"creationTimestamp":"2023-11-14T22:13:20Z","name":"builder",)"
            R"("namespace":"ops","uid":"sa-1"},"spec":{"audiences":[)"
            R"("https://kubernetes.default.svc.cluster.local"],"boundObjectRef":null,)"
            R"("expirationSeconds":3600},"status":{"expirationTimestamp":"2023-11-14T23:13:20Z",)"
            R"("token":"…"}})");
  EXPECT_EQ(request_.notes->annotations["authentication.kubernetes.io/issued-credential-id"],
            "JTI=jti-1");
  const auto user = authenticator_.CheckToken(token, {});
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(user->user.name, "system:serviceaccount:ops:builder");
}

TEST_F(TokenIssuerTest, RefusesAsTheServerDoes) {
  struct Case {
    std::string object;
    int code;
    std::string message;
  };
  const Case cases[] = {
      {R"({"spec":{"expirationSeconds":599}})", 422,
       "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: "
       "599: may not specify a duration less than 10 minutes"},
      {R"({"spec":{"expirationSeconds":0}})", 422,
       "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: "
       "0: may not specify a duration less than 10 minutes"},
      {R"({"spec":{"expirationSeconds":4294967297}})", 422,
       "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: "
       "4294967297: may not specify a duration larger than 2^32 seconds"},
      {R"({"metadata":{"name":"x"}})", 422,
       "TokenRequest.authentication.k8s.io \"builder\" is invalid: metadata.name: Invalid value: "
       "\"x\": must match the service account name if specified"},
      {R"({"metadata":{"uid":"x"}})", 409,
       "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"builder\": the UID "
       "in the token request (x) does not match the UID of the service account (sa-1)"},
      {R"({"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"nope"}}})", 404,
       "secrets \"nope\" not found"},
      {R"({"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"switch",)"
       R"("uid":"x"}}})",
       409,
       "Operation cannot be fulfilled on Secret \"switch\": the UID in the bound object reference "
       "(x) does not match the UID in record. The object might have been deleted and then "
       "recreated"},
      {R"({"spec":{"boundObjectRef":{"kind":"ConfigMap","apiVersion":"v1","name":"a"}}})", 400,
       "cannot bind token to object of type /v1, Kind=ConfigMap"},
      {R"({"spec":{"boundObjectRef":{"kind":"Deployment","apiVersion":"apps/v1","name":"a"}}})",
       400, "cannot bind token to object of type apps/v1, Kind=Deployment"},
      {R"({"spec":{"boundObjectRef":{}}})", 400, "cannot bind token to object of type /, Kind="},
      {R"({"spec":{"boundObjectRef":{"kind":"Node","apiVersion":"v1","name":"n"}}})", 404,
       "nodes \"n\" not found"},
      {R"({"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}})", 404,
       "pods \"p\" not found"},
      {R"({"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"another"}}})", 400,
       "cannot bind token for serviceaccount \"builder\" to pod running with different "
       "serviceaccount name."},
  };
  for (const Case& c : cases) {
    const auto answer = Issue(c.object);
    EXPECT_EQ(HttpCode(answer.status()), c.code) << c.object;
    EXPECT_EQ(Message(answer), c.message);
    EXPECT_TRUE(request_.notes->annotations.empty());
  }
}

TEST_F(TokenIssuerTest, WhatIsNotThereIsNamed) {
  request_.attributes.name = "nope";
  EXPECT_EQ(Message(Issue("{}")), "serviceaccounts \"nope\" not found");
  request_.attributes.ns = "nowhere";
  EXPECT_EQ(Message(Issue("{}")), "namespaces \"nowhere\" not found");
}

TEST_F(TokenIssuerTest, BindsToASecretAPodOrANode) {
  const auto bound = [&](const std::string& kind, const std::string& name) {
    return Claims(Issue(R"({"spec":{"boundObjectRef":{"kind":")" + kind +
                        R"(","apiVersion":"v1","name":")" + name + R"("}}})")
                      .value());
  };
  EXPECT_EQ(bound("Secret", "switch").secret, (NameAndUid{"switch", "secret-1"}));
  EXPECT_EQ(bound("Node", "worker").node, (NameAndUid{"worker", "node-1"}));
  EXPECT_EQ(bound("Pod", "own").pod, (NameAndUid{"own", "pod-1"}));
  EXPECT_EQ(bound("Pod", "own").node, (NameAndUid{"worker", "node-1"}));
  objects_.Delete({.group = "", .resource = "nodes"}, "", "worker");
  EXPECT_EQ(bound("Pod", "own").node, (NameAndUid{"worker", ""}));
}

TEST_F(TokenIssuerTest, AudiencesAreTakenAsTheyAre) {
  const auto answer = Issue(R"({"spec":{"audiences":["vault","consul"]}})");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(Claims(*answer).audiences, ElementsAre("vault", "consul"));
}

TEST_F(TokenIssuerTest, AProjectedTokenOfAPodIsGoodForAYear) {
  const auto life = [&](const char* ref) {
    const Json::Value answer =
        Issue(std::string(R"({"spec":{"expirationSeconds":3607)") + ref + "}}").value();
    EXPECT_EQ(answer["status"]["expirationTimestamp"].asString(), "2023-11-14T23:13:27Z");
    const TokenClaims claims = Claims(answer);
    return claims.expires - claims.issued;
  };
  EXPECT_EQ(life(R"(,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"own"})"),
            absl::Hours(24 * 365));
  EXPECT_EQ(life(""), absl::Seconds(3607));
}

TEST_F(TokenIssuerTest, LivesMayBeShorterAndBounded) {
  const auto minute =
      Issue(R"({"spec":{"expirationSeconds":60}})", {.min_life = absl::Seconds(60)});
  ASSERT_TRUE(minute.ok()) << minute.status();
  EXPECT_EQ(Claims(*minute).expires - Claims(*minute).issued, absl::Seconds(60));
  EXPECT_EQ(Message(Issue(R"({"spec":{"expirationSeconds":59}})", {.min_life = absl::Seconds(60)})),
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
            "value: 59: may not specify a duration less than 1m");

  const auto cut = Issue("{}", {.max_life = absl::Seconds(1000)});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ((*cut)["spec"]["expirationSeconds"].asInt(), 1000);
  EXPECT_THAT(request_.notes->warnings,
              ElementsAre("requested expiration of 3600 seconds shortened to 1000 seconds"));
}

}  // namespace
}  // namespace mandate::apiserver
