// The rows of testing/conformance/rows/access_tokens.yaml test the messages and the groups.
#include "testing/apiserver/access/authenticator.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const GroupResource kAccounts{.group = "", .resource = "serviceaccounts"};
const GroupResource kSecrets{.group = "", .resource = "secrets"};
const GroupResource kNodes{.group = "", .resource = "nodes"};
const GroupResource kPods{.group = "", .resource = "pods"};

class AuthenticatorTest : public ::testing::Test {
 protected:
  AuthenticatorTest() {
    objects_.Put(kAccounts, R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-1"}})");
  }

  TokenClaims Claims(absl::Duration life = absl::Hours(1)) {
    return {.issuer = kIssuer,
            .jti = "1234",
            .audiences = {kIssuer},
            .issued = clock_.TimeNow(),
            .expires = clock_.TimeNow() + life,
            .ns = "ops",
            .service_account = {.name = "builder", .uid = "sa-1"},
            .pod = std::nullopt,
            .secret = std::nullopt,
            .node = std::nullopt};
  }
  std::string Sign(const TokenClaims& claims) { return SignToken(claims, kSigningKey); }
  static Request WithHeader(std::string value) {
    Request request;
    request.headers = {{"authorization", std::move(value)}};
    return request;
  }
  absl::StatusOr<User> Bearer(const TokenClaims& claims) {
    return authenticator_.Authenticate(WithHeader("Bearer " + Sign(claims)));
  }
  std::string Why(const TokenClaims& claims) {
    return std::string(authenticator_.CheckToken(Sign(claims), {}).status().message());
  }

  static FixedTokens Admin() {
    User admin;
    admin.name = "admin";
    admin.groups = {"system:masters"};
    return {{"root", admin}};
  }

  ObjectTable objects_;
  SimulatedClock clock_;
  Authenticator authenticator_{Admin(), objects_, clock_};
};

TEST_F(AuthenticatorTest, BoundObjectsAreInTheExtraAttributes) {
  objects_.Put(kPods, R"({"metadata":{"namespace":"ops","name":"web","uid":"pod-1"}})");
  TokenClaims claims = Claims();
  claims.pod = NameAndUid{.name = "web", .uid = "pod-1"};
  claims.node = NameAndUid{.name = "worker", .uid = ""};  // a Pod's Node may be absent
  const auto user = Bearer(claims);
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_THAT(user->extra,
              UnorderedElementsAre(
                  Pair("authentication.kubernetes.io/credential-id", ElementsAre("JTI=1234")),
                  Pair("authentication.kubernetes.io/pod-name", ElementsAre("web")),
                  Pair("authentication.kubernetes.io/pod-uid", ElementsAre("pod-1")),
                  Pair("authentication.kubernetes.io/node-name", ElementsAre("worker"))));
}

TEST_F(AuthenticatorTest, HeaderWithoutBearerTokenIsAnonymous) {
  for (const char* value : {"", "Bearer", "Bearer ", "Basic dTpw", "  ", "Bearer  x"}) {
    const auto user = authenticator_.Authenticate(WithHeader(value));
    ASSERT_TRUE(user.ok()) << value;
    EXPECT_EQ(user->name, "system:anonymous") << value;
    EXPECT_THAT(user->groups, ElementsAre("system:unauthenticated"));
  }
  EXPECT_EQ(authenticator_.Authenticate(Request())->name, "system:anonymous");
}

TEST_F(AuthenticatorTest, FixedTokenDoesNotExpire) {
  clock_.AdvanceTo(clock_.TimeNow() + absl::Hours(100'000));
  const auto user = authenticator_.Authenticate(WithHeader("BEARER root"));
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(user->name, "admin");
  EXPECT_THAT(user->groups, ElementsAre("system:masters", "system:authenticated"));
  EXPECT_FALSE(authenticator_.CheckToken("root", {"another"}).ok());
}

TEST_F(AuthenticatorTest, CertificateTakesPrecedenceOverToken) {
  Request request = WithHeader("Bearer what");
  request.certificate = {.common_name = "jane", .organisations = {"dev"}};
  const auto user = authenticator_.Authenticate(request);
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(user->name, "jane");
  EXPECT_THAT(user->groups, ElementsAre("dev", "system:authenticated"));
}

TEST_F(AuthenticatorTest, TokenExpiresOneMinuteAfterItsLife) {
  const TokenClaims claims = Claims(absl::Seconds(60));
  const absl::Time issued = clock_.TimeNow();
  clock_.AdvanceTo(issued + absl::Seconds(120));
  EXPECT_TRUE(Bearer(claims).ok());
  clock_.AdvanceTo(issued + absl::Seconds(121));
  EXPECT_TRUE(IsUnauthorized(Bearer(claims).status()));
  EXPECT_THAT(Why(claims), HasSubstr("service account token has expired"));

  TokenClaims future = Claims();
  future.issued = clock_.TimeNow() + absl::Seconds(61);
  EXPECT_THAT(Why(future), HasSubstr("service account token is not valid yet"));
}

TEST_F(AuthenticatorTest, WrongWallClockDoesNotMatter) {
  const TokenClaims claims = Claims();
  clock_.SetWallSkew(absl::Hours(-50));
  EXPECT_TRUE(Bearer(claims).ok());
}

TEST_F(AuthenticatorTest, DeletedServiceAccountIsValidForOneMoreMinute) {
  objects_.Put(kAccounts, R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-1",
      "deletionTimestamp":"2023-11-14T22:13:20Z"}})");  // the simulated clock's start
  const TokenClaims claims = Claims();
  clock_.AdvanceTo(claims.issued + absl::Seconds(60));
  EXPECT_TRUE(Bearer(claims).ok());
  clock_.AdvanceTo(claims.issued + absl::Seconds(61));
  EXPECT_THAT(Why(claims), HasSubstr("service account ops/builder has been deleted"));
}

TEST_F(AuthenticatorTest, TokenEndsWithItsBoundObject) {
  struct Case {
    GroupResource resource;
    std::optional<NameAndUid> TokenClaims::*bound;
    std::string ns;
  };
  for (const Case& c :
       {Case{kSecrets, &TokenClaims::secret, "ops"}, Case{kPods, &TokenClaims::pod, "ops"},
        Case{kNodes, &TokenClaims::node, ""}}) {
    TokenClaims claims = Claims();
    claims.*c.bound = NameAndUid{.name = "it", .uid = "u1"};
    const std::string where = c.ns.empty() ? "" : R"("namespace":"ops",)";
    objects_.Put(c.resource, R"({"metadata":{)" + where + R"("name":"it","uid":"u1"}})");
    EXPECT_TRUE(Bearer(claims).ok()) << c.resource.resource;
    objects_.Put(c.resource, R"({"metadata":{)" + where + R"("name":"it","uid":"u2"}})");
    EXPECT_TRUE(IsUnauthorized(Bearer(claims).status())) << c.resource.resource;
    objects_.Delete(c.resource, c.ns, "it");
    EXPECT_THAT(Why(claims), HasSubstr("service account token has been invalidated"));
  }
}

TEST_F(AuthenticatorTest, TokenOfAnotherIssuerIsInvalid) {
  TokenClaims claims = Claims();
  claims.issuer = "https://another";
  EXPECT_TRUE(IsUnauthorized(Bearer(claims).status()));
}

TEST_F(AuthenticatorTest, RevokesAnyToken) {
  const std::string token = Sign(Claims());
  authenticator_.Revoke(token);
  EXPECT_TRUE(IsUnauthorized(authenticator_.Authenticate(WithHeader("Bearer " + token)).status()));
  TokenClaims next = Claims();
  next.jti = "next";
  EXPECT_TRUE(Bearer(next).ok());
  authenticator_.Revoke("root");
  EXPECT_TRUE(IsUnauthorized(authenticator_.Authenticate(WithHeader("Bearer root")).status()));
}

}  // namespace
}  // namespace mandate::apiserver
