// Many identities with short tokens on one whole double, in virtual time.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "testing/apiserver/server_core.h"
#include "testing/apiserver/testing/recorded_exchange.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kIdentities = 50;
constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kBindings[] = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

class IdentitiesTest : public ::testing::Test {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    options.access.tokens.min_life = absl::Seconds(60);
    return options;
  }
  std::shared_ptr<RecordedExchange> Send(std::string method, std::string target,
                                         std::string_view token, std::string body = "") {
    auto exchange = std::make_shared<RecordedExchange>(
        Request::Parse(
            std::move(method), std::move(target),
            {{"authorization", StrCat("Bearer ", token)}, {"content-type", "application/json"}},
            std::move(body))
            .value());
    server_.Serve(exchange);
    loop_.RunReady();
    return exchange;
  }
  int Code(std::string method, std::string target, std::string_view token, std::string body = "") {
    return Send(std::move(method), std::move(target), token, std::move(body))->head().code;
  }
  // Of the ServiceAccount `name`, which there is, for a minute.
  std::string Token(const std::string& name, const std::string& more = "") {
    const auto exchange =
        Send("POST", StrCat("/api/v1/namespaces/default/serviceaccounts/", name, "/token"),
             kAdminToken, StrCat(R"({"spec":{"expirationSeconds":60)", more, "}}"));
    return ParseJson(exchange->body()).value()["status"]["token"].asString();
  }
  void Account(const std::string& name) {
    ASSERT_EQ(Code("POST", "/api/v1/namespaces/default/serviceaccounts", kAdminToken,
                   StrCat(R"({"metadata":{"name":")", name, R"("}})")),
              201);
  }
  void Grant(const std::string& name) {
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
    ASSERT_EQ(Code("POST", rbac + "roles", kAdminToken,
                   StrCat(R"({"metadata":{"name":")", name, R"("},"rules":[{"verbs":["list",)",
                          R"("watch"],"apiGroups":[""],"resources":["configmaps"]}]})")),
              201);
    ASSERT_EQ(Code("POST", rbac + "rolebindings", kAdminToken,
                   StrCat(R"({"metadata":{"name":")", name, R"("},"roleRef":{"kind":"Role",)",
                          R"("name":")", name, R"("},"subjects":[{"kind":"ServiceAccount",)",
                          R"("namespace":"default","name":")", name, R"("}]})")),
              201);
  }

  SimulatedLoop loop_;
  ServerCore server_{loop_, Options()};
};

TEST_F(IdentitiesTest, FiftyWithTokensOfAMinute) {
  std::vector<std::string> tokens;
  for (int i = 0; i < kIdentities; ++i) {
    const std::string name = StrCat("sa-", i);
    Account(name);
    if (i % 2 == 0) Grant(name);
    tokens.push_back(Token(name));
  }
  const auto expect_all = [&](int granted, int others) {
    for (int i = 0; i < kIdentities; ++i) {
      EXPECT_EQ(Code("GET", kMaps, tokens[i]), i % 2 == 0 ? granted : others) << i;
    }
  };
  expect_all(200, 403);
  loop_.RunFor(absl::Seconds(120));  // the minute, and the leeway
  expect_all(200, 403);
  loop_.RunFor(absl::Seconds(1));
  expect_all(401, 401);
  for (int i = 0; i < kIdentities; ++i) tokens[i] = Token(StrCat("sa-", i));
  expect_all(200, 403);
}

TEST_F(IdentitiesTest, AnOpenWatchOutlivesItsTokenAndItsGrant) {
  Account("robot");
  Grant("robot");
  const std::string token = Token("robot");
  const auto watch = Send("GET", StrCat(kMaps, "?watch=1&timeoutSeconds=600"), token);
  ASSERT_EQ(watch->head().code, 200);
  EXPECT_EQ(Code("DELETE", StrCat(kBindings, "/robot"), kAdminToken), 200);
  EXPECT_EQ(Code("GET", kMaps, token), 403);
  loop_.RunFor(absl::Seconds(121));
  EXPECT_EQ(Code("GET", kMaps, token), 401);

  EXPECT_FALSE(watch->closed());
  EXPECT_THAT(watch->body(), Not(HasSubstr("\"news\"")));
  ASSERT_EQ(Code("POST", kMaps, kAdminToken, R"({"metadata":{"name":"news"}})"), 201);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(watch->body(), HasSubstr("\"news\""));
}

TEST_F(IdentitiesTest, AKillSwitchEndsOneIdentityOnly) {
  Account("a");
  Account("b");
  ASSERT_EQ(Code("POST", "/api/v1/namespaces/default/secrets", kAdminToken,
                 R"({"metadata":{"name":"switch"}})"),
            201);
  const std::string bound =
      Token("a", R"(,"boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"switch"})");
  const std::string free = Token("a");
  const std::string other = Token("b");
  EXPECT_EQ(Code("GET", "/version", bound), 200);
  EXPECT_EQ(Code("DELETE", "/api/v1/namespaces/default/secrets/switch", kAdminToken), 200);
  EXPECT_EQ(Code("GET", "/version", bound), 401);
  EXPECT_EQ(Code("GET", "/version", free), 200);
  server_.access().authenticator().Revoke(free);
  EXPECT_EQ(Code("GET", "/version", free), 401);
  EXPECT_EQ(Code("GET", "/version", other), 200);
  EXPECT_EQ(Code("DELETE", "/api/v1/namespaces/default/serviceaccounts/b", kAdminToken), 200);
  EXPECT_EQ(Code("GET", "/version", other), 401);
}

TEST_F(IdentitiesTest, ShorterThanTheOptionAllowsIsRefusedAllTheSame) {
  Account("a");
  const auto refused = Send("POST", "/api/v1/namespaces/default/serviceaccounts/a/token",
                            kAdminToken, R"({"spec":{"expirationSeconds":59}})");
  EXPECT_EQ(refused->head().code, 422);
  EXPECT_THAT(refused->body(), HasSubstr("may not specify a duration less than 1m"));
}

}  // namespace
}  // namespace mandate::apiserver
