#include "testing/apiserver/access/access.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/object_table.h"
#include "testing/apiserver/testing/recorded_exchange.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kAccount[] = R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-1"}})";

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    for (const std::string& text : plugin_.seed) {
      const std::string kind = ParseJson(text).value()["kind"].asString();
      objects_.Put({"rbac.authorization.k8s.io",
                    kind == "ClusterRole" ? "clusterroles" : "clusterrolebindings"},
                   text);
    }
    objects_.Put({"", "namespaces"}, R"({"metadata":{"name":"ops"}})");
    objects_.Put({"", "serviceaccounts"}, kAccount);
  }
  AccessOptions Options() {
    AccessOptions options;
    options.authentication.fixed_tokens["root"].name = "admin";
    options.authentication.fixed_tokens["root"].groups = {"system:masters"};
    options.audit.sink = [this](std::string line) { audit_.push_back(ParseJson(line).value()); };
    return options;
  }

  // Through all filters; what passes them is answered with 200.
  std::shared_ptr<RecordedExchange> Send(std::string method, std::string target, std::string token,
                                         Headers headers = {}) {
    if (!token.empty()) headers.emplace_back("authorization", "Bearer " + token);
    auto exchange = std::make_shared<RecordedExchange>(
        Request::Parse(std::move(method), std::move(target), std::move(headers), "").value());
    Pass(0, exchange);
    return exchange;
  }
  void Pass(size_t filter, std::shared_ptr<Exchange> exchange) {
    if (filter == plugin_.filters.size()) {
      exchange->Respond({.code = 200, .headers = {}, .body = "{}"});
      return;
    }
    plugin_.filters[filter](exchange, [this, filter](const std::shared_ptr<Exchange>& passed) {
      Pass(filter + 1, passed);
    });
  }
  absl::StatusOr<Json::Value> Create(std::string_view resource, const Request& request,
                                     std::string_view object) {
    absl::StatusOr<Json::Value> result = absl::NotFoundError("no such resource");
    for (const VirtualResource& one : plugin_.resources) {
      if (one.resource != resource) continue;
      one.create(request, ParseJson(object).value(),
                 [&](absl::StatusOr<Json::Value> answer) { result = std::move(answer); });
    }
    return result;
  }
  std::string Token() {
    Request request;
    request.attributes.ns = "ops";
    request.attributes.name = "builder";
    return Create("serviceaccounts/token", request, "{}").value()["status"]["token"].asString();
  }

  SimulatedLoop loop_;
  ObjectTable objects_;
  std::vector<Json::Value> audit_;
  Access access_{Options(), objects_, loop_};
  Plugin plugin_ = access_.plugin();
};

TEST_F(AccessTest, AdministratorsMayAll) {
  EXPECT_EQ(Send("DELETE", "/api/v1/namespaces/ops", "root")->head().code, 200);
  ASSERT_THAT(audit_, SizeIs(1));
  EXPECT_EQ(audit_[0]["user"]["username"].asString(), "admin");
  EXPECT_EQ(WriteJson(audit_[0]["annotations"]),
            R"({"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""})");
}

TEST_F(AccessTest, ABadTokenIsNobodysAndSoIsItsTrace) {
  const auto exchange = Send("GET", "/version", "what");
  EXPECT_EQ(exchange->head().code, 401);
  EXPECT_THAT(exchange->body(), HasSubstr(R"("message":"Unauthorized")"));
  ASSERT_THAT(audit_, SizeIs(1));
  EXPECT_EQ(audit_[0]["stage"].asString(), "ResponseStarted");
  EXPECT_EQ(WriteJson(audit_[0]["user"]), "{}");
  EXPECT_FALSE(audit_[0].isMember("annotations"));
}

TEST_F(AccessTest, AServiceAccountMayWhatItIsGranted) {
  const std::string token = Token();
  const auto refused = Send("GET", "/api/v1/namespaces/shop/pods", token);
  EXPECT_EQ(refused->head().code, 403);
  EXPECT_THAT(refused->body(),
              HasSubstr(R"(User \"system:serviceaccount:ops:builder\" cannot list resource )"
                        R"(\"pods\" in API group \"\" in the namespace \"shop\"")"));
  EXPECT_EQ(audit_.back()["annotations"]["authorization.k8s.io/decision"].asString(), "forbid");

  objects_.Put({"rbac.authorization.k8s.io", "clusterroles"},
               R"({"metadata":{"name":"r"},"rules":[{"verbs":["list"],"apiGroups":[""],
                   "resources":["pods"]}]})");
  objects_.Put({"rbac.authorization.k8s.io", "rolebindings"},
               R"({"metadata":{"namespace":"shop","name":"b"},"roleRef":{"kind":"ClusterRole",
                   "name":"r"},"subjects":[{"kind":"ServiceAccount","namespace":"ops",
                   "name":"builder"}]})");
  EXPECT_EQ(Send("GET", "/api/v1/namespaces/shop/pods", token)->head().code, 200);
  EXPECT_EQ(audit_.back()["annotations"]["authorization.k8s.io/reason"].asString(),
            "RBAC: allowed by RoleBinding \"b/shop\" of ClusterRole \"r\" to ServiceAccount "
            "\"builder/ops\"");
  objects_.Delete({"rbac.authorization.k8s.io", "rolebindings"}, "shop", "b");
  EXPECT_EQ(Send("GET", "/api/v1/namespaces/shop/pods", token)->head().code, 403);

  access_.authenticator().Revoke(token);
  EXPECT_EQ(Send("GET", "/api/v1/namespaces/shop/pods", token)->head().code, 401);
}

TEST_F(AccessTest, NobodyMaySeeWhatIsPublic) {
  EXPECT_EQ(Send("GET", "/version", "")->head().code, 200);
  const auto refused = Send("GET", "/api", "");
  EXPECT_EQ(refused->head().code, 403);
  EXPECT_THAT(refused->body(), HasSubstr("system:anonymous"));
}

TEST_F(AccessTest, ImpersonationIsRefusedAsNotServed) {
  EXPECT_EQ(Send("GET", "/version", "root", {{"impersonate-user", "jane"}})->head().code, 501);
}

TEST_F(AccessTest, EveryReviewIsServed) {
  Request request;
  request.user.name = "jane";
  request.user.groups = {"system:authenticated"};
  request.attributes.ns = "ops";
  const std::string may = R"("resourceAttributes":{"verb":"get","resource":"pods",)"
                          R"("namespace":"ops"})";
  for (const std::string review :
       {"selfsubjectaccessreviews", "subjectaccessreviews", "localsubjectaccessreviews",
        "selfsubjectrulesreviews", "selfsubjectreviews", "tokenreviews"}) {
    const std::string spec = review == "selfsubjectrulesreviews"    ? R"("namespace":"ops")"
                             : review == "tokenreviews"             ? R"("token":"root")"
                             : review == "selfsubjectaccessreviews" ? may
                                                                    : may + R"(,"user":"jane")";
    const auto answer = Create(review, request, R"({"spec":{)" + spec + "}}");
    ASSERT_TRUE(answer.ok()) << review << ": " << answer.status();
    EXPECT_TRUE((*answer)["status"].isObject()) << review;
  }
}

TEST_F(AccessTest, WhatIsCreatedIsInTheRequestsNamespace) {
  Request request;
  request.attributes.ns = "ops";
  request.attributes.name = "builder";
  for (const char* resource : {"serviceaccounts/token", "localsubjectaccessreviews"}) {
    const auto answer = Create(resource, request, R"({"metadata":{"namespace":"other"}})");
    EXPECT_EQ(ApiStatus(answer.status())->message(),
              "the namespace of the provided object does not match the namespace sent on the "
              "request")
        << resource;
  }
}

TEST_F(AccessTest, WritesAreChecked) {
  Request request;
  request.user.name = "jane";
  request.attributes.verb = "create";
  EXPECT_TRUE(IsForbidden(plugin_.hooks->CheckRules(
      {.request = &request,
       .creates = true,
       .resource = {"rbac.authorization.k8s.io", "clusterroles"},
       .name = "r",
       .object = ParseJson(R"({"metadata":{"name":"r"},"rules":[{"verbs":["get"],
                               "apiGroups":[""],"resources":["pods"]}]})")
                     .value(),
       .old_object = {}})));
}

TEST_F(AccessTest, AnApplyThatCreatesNeedsCreateUnderItsName) {
  Request request = Request::Parse("PATCH", "/api/v1/namespaces/shop/configmaps/a", {}, "").value();
  request.user.name = "jane";
  const auto validated = [&] { return plugin_.hooks->CheckCreate(request); };
  EXPECT_EQ(ApiStatus(validated())->message(),
            "configmaps \"a\" is forbidden: User \"jane\" cannot create resource \"configmaps\" in "
            "API group \"\" in the namespace \"shop\"");
  objects_.Put({"rbac.authorization.k8s.io", "clusterroles"},
               R"({"metadata":{"name":"r"},"rules":[{"verbs":["create"],"apiGroups":[""],
                   "resources":["configmaps"],"resourceNames":["a"]}]})");
  objects_.Put({"rbac.authorization.k8s.io", "clusterrolebindings"},
               R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"r"},
                   "subjects":[{"kind":"User","name":"jane"}]})");
  EXPECT_TRUE(validated().ok());
  request.attributes.name = "b";
  EXPECT_TRUE(IsForbidden(validated()));
}

TEST_F(AccessTest, TheSameSeedMakesTheSameTokens) {
  Access again(Options(), objects_, loop_);
  const std::string first = Token();
  EXPECT_NE(first, Token());
  plugin_ = again.plugin();
  EXPECT_EQ(first, Token());
}

}  // namespace
}  // namespace mandate::apiserver
