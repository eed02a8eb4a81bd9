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

constexpr char kAudience[] = "https://kubernetes.default.svc.cluster.local";
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
    return {.issuer = kAudience,
            .jti = "1234",
            .audiences = {kAudience},
            .issued = clock_.TimeNow(),
            .expires = clock_.TimeNow() + life,
            .ns = "ops",
            .service_account = {.name = "builder", .uid = "sa-1"},
            .pod = std::nullopt,
            .secret = std::nullopt,
            .node = std::nullopt};
  }
  std::string Sign(const TokenClaims& claims) {
    return SignToken(claims, authenticator_.options().signing_key);
  }
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

  static AuthenticatorOptions Options() {
    AuthenticatorOptions options;
    options.fixed_tokens["root"].name = "admin";
    options.fixed_tokens["root"].groups = {"system:masters"};
    return options;
  }

  ObjectTable objects_;
  SimulatedClock clock_;
  Authenticator authenticator_{Options(), objects_, clock_};
};

TEST_F(AuthenticatorTest, AServiceAccountsTokenCarriesItsGroupsAndItsCredentialsId) {
  const auto user = Bearer(Claims());
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(user->name, "system:serviceaccount:ops:builder");
  EXPECT_EQ(user->uid, "sa-1");
  EXPECT_THAT(user->groups, ElementsAre("system:serviceaccounts", "system:serviceaccounts:ops",
                                        "system:authenticated"));
  EXPECT_THAT(user->extra, ElementsAre(Pair("authentication.kubernetes.io/credential-id",
                                            ElementsAre("JTI=1234"))));
}

TEST_F(AuthenticatorTest, WhatATokenIsBoundToIsTold) {
  objects_.Put(kPods, R"({"metadata":{"namespace":"ops","name":"web","uid":"pod-1"}})");
  TokenClaims claims = Claims();
  claims.pod = NameAndUid{.name = "web", .uid = "pod-1"};
  claims.node = NameAndUid{.name = "worker", .uid = ""};  // not there, which a Pod's may be
  const auto user = Bearer(claims);
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_THAT(user->extra,
              UnorderedElementsAre(
                  Pair("authentication.kubernetes.io/credential-id", ElementsAre("JTI=1234")),
                  Pair("authentication.kubernetes.io/pod-name", ElementsAre("web")),
                  Pair("authentication.kubernetes.io/pod-uid", ElementsAre("pod-1")),
                  Pair("authentication.kubernetes.io/node-name", ElementsAre("worker"))));
}

TEST_F(AuthenticatorTest, AHeaderWithoutABearerTokenIsNobody) {
  for (const char* value : {"", "Bearer", "Bearer ", "Basic dTpw", "  ", "Bearer  x"}) {
    const auto user = authenticator_.Authenticate(WithHeader(value));
    ASSERT_TRUE(user.ok()) << value;
    EXPECT_EQ(user->name, "system:anonymous") << value;
    EXPECT_THAT(user->groups, ElementsAre("system:unauthenticated"));
  }
  EXPECT_EQ(authenticator_.Authenticate(Request())->name, "system:anonymous");
}

TEST_F(AuthenticatorTest, NobodyMayBeRefused) {
  AuthenticatorOptions options = Options();
  options.anonymous = false;
  const Authenticator strict(options, objects_, clock_);
  EXPECT_TRUE(IsUnauthorized(strict.Authenticate(Request()).status()));
}

TEST_F(AuthenticatorTest, ABadTokenIsA401ThatTellsNothing) {
  const auto user = authenticator_.Authenticate(WithHeader("bearer what"));
  EXPECT_TRUE(IsUnauthorized(user.status()));
  EXPECT_EQ(ApiStatus(user.status())->message(), "Unauthorized");
  EXPECT_FALSE(ApiStatus(user.status())->has_details());
}

TEST_F(AuthenticatorTest, AFixedTokenIsItsOwnersForEver) {
  clock_.AdvanceTo(clock_.TimeNow() + absl::Hours(100'000));
  const auto user = authenticator_.Authenticate(WithHeader("BEARER root"));
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(user->name, "admin");
  EXPECT_THAT(user->groups, ElementsAre("system:masters", "system:authenticated"));
  EXPECT_FALSE(authenticator_.CheckToken("root", {"another"}).ok());
}

TEST_F(AuthenticatorTest, ACertificateCountsBeforeAToken) {
  Request request = WithHeader("Bearer what");
  request.certificate = {.common_name = "jane", .organisations = {"dev"}};
  const auto user = authenticator_.Authenticate(request);
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(user->name, "jane");
  EXPECT_THAT(user->groups, ElementsAre("dev", "system:authenticated"));
}

TEST_F(AuthenticatorTest, ATokenIsGoodForALeewayBeyondItsLife) {
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

TEST_F(AuthenticatorTest, AWallThatIsWrongDoesNotMatter) {
  const TokenClaims claims = Claims();
  clock_.SetWallSkew(absl::Hours(-50));
  EXPECT_TRUE(Bearer(claims).ok());
}

TEST_F(AuthenticatorTest, ATokenDiesWithItsServiceAccount) {
  objects_.Put(kAccounts, R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-2"}})");
  EXPECT_THAT(Why(Claims()), HasSubstr("service account UID (sa-2) does not match claim (sa-1)"));
  objects_.Delete(kAccounts, "ops", "builder");
  EXPECT_THAT(Why(Claims()), HasSubstr("\"builder\" not found"));
}

TEST_F(AuthenticatorTest, WhatIsBeingDeletedCountsForALeewayLonger) {
  objects_.Put(kAccounts, R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-1",
      "deletionTimestamp":"2023-11-14T22:13:20Z"}})");  // the simulated clock's start
  const TokenClaims claims = Claims();
  clock_.AdvanceTo(claims.issued + absl::Seconds(60));
  EXPECT_TRUE(Bearer(claims).ok());
  clock_.AdvanceTo(claims.issued + absl::Seconds(61));
  EXPECT_THAT(Why(claims), HasSubstr("service account ops/builder has been deleted"));
}

TEST_F(AuthenticatorTest, ATokenDiesWithWhatItIsBoundTo) {
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

TEST_F(AuthenticatorTest, ATokenForOthersIsNoneForTheServer) {
  TokenClaims claims = Claims();
  claims.audiences = {"vault", "consul"};
  EXPECT_TRUE(IsUnauthorized(Bearer(claims).status()));
  const auto checked = authenticator_.CheckToken(Sign(claims), {"consul", "nomad"});
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_THAT(checked->audiences, ElementsAre("consul"));
  claims.issuer = "https://another";
  EXPECT_TRUE(IsUnauthorized(Bearer(claims).status()));
}

TEST_F(AuthenticatorTest, AnyTokenCanBeRevoked) {
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
