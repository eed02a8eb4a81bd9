#include "testing/simulation/scope/guardian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kBindings[] = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

// Plays a component that misbehaves.
class GuardianTest : public testing::Test {
 protected:
  HttpResponse Send(const std::string& token, const std::string& component,
                    const std::string& method, const std::string& target,
                    const std::string& body = "") {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://double:6443";
    endpoint->ca_pem = "CA";
    HttpRequest request(endpoint, BearerToken{std::make_shared<Secret>(token)}, method, target);
    request.user_agent = "mandate-manager/1 (linux/amd64) " + component;
    request.body = body;
    if (!body.empty()) {
      request.content_type =
          method == "PATCH" ? "application/apply-patch+yaml" : "application/json";
    }
    HttpResponse response;
    cluster_.server().transport().Call(
        {loop_.clock().TimeNow() + absl::Minutes(1), {}}, std::move(request),
        [&](absl::StatusOr<HttpResponse> answer) { response = *std::move(answer); });
    loop_.RunFor(absl::Seconds(1));
    return response;
  }

  std::string TokenOf(const std::string& component) {
    const HttpResponse answer =
        Send(kBaseToken, "base", "POST",
             StrCat("/api/v1/namespaces/mandate-system/serviceaccounts/mandate-manager-", component,
                    "/token"),
             R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})");
    EXPECT_EQ(answer.code, 201) << answer.body;
    return (*ParseJson(answer.body))["status"]["token"].asString();
  }

  SimulatedLoop loop_;
  Cluster cluster_{loop_, 1};
  Guardian guardian_{cluster_, true};
};

TEST_F(GuardianTest, WhatTheMandateHasIsRight) {
  const std::string token = TokenOf("scope-template");
  EXPECT_EQ(Send(token, "scope-template", "GET", PathOf(ClusterRoles(), "")).code, 200);
  EXPECT_THAT(guardian_.wrong(), IsEmpty());
  EXPECT_EQ(guardian_.requests(), 2);
}

TEST_F(GuardianTest, ABorrowedIdentity) {
  const std::string token = TokenOf("scope-template");
  Send(token, "scope-instance", "GET", PathOf(ClusterRoles(), ""));
  EXPECT_THAT(guardian_.wrong(), ElementsAre(HasSubstr("borrowed")));
}

TEST_F(GuardianTest, BeyondTheMandateAlsoWhereItIsForbidden) {
  const std::string token = TokenOf("scope-template");
  EXPECT_EQ(Send(token, "scope-template", "GET", "/api/v1/secrets").code, 403);
  EXPECT_THAT(guardian_.wrong(), ElementsAre(HasSubstr("beyond its mandate")));
}

TEST_F(GuardianTest, SomethingForeignIsDeleted) {
  Json::Value foreign = *ParseJson(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
          "metadata":{"namespace":"default","name":"theirs"},
          "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"x"}})");
  ASSERT_EQ(cluster_.Create(RoleBindings(), foreign), 201);
  guardian_.AddForeign(Guardian::KeyOf(RoleBindings(), "default", "theirs"));
  const std::string token = TokenOf("scope-instance");
  EXPECT_EQ(Send(token, "scope-instance", "DELETE", StrCat(kBindings, "/theirs")).code, 200);
  EXPECT_THAT(guardian_.wrong(), ElementsAre(HasSubstr("foreign")));
  EXPECT_EQ(guardian_.writes(), 1);
}

// The former object was deleted with its namespace: an apply is a change only if the object exists.
TEST_F(GuardianTest, TheNameOfSomethingForeignThatWentIsFree) {
  guardian_.AddForeign(Guardian::KeyOf(ClusterRoles(), "", "theirs"));
  const std::string token = TokenOf("scope-template");
  const std::string apply = PathOf(ClusterRoles(), "") + "/theirs?fieldManager=scope&force=true";
  const auto role = [](const char* labels) {
    return StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
                      "metadata":{"name":"theirs","labels":)",
                  labels, "}}");
  };
  EXPECT_EQ(Send(token, "scope-template", "PATCH", apply, role("{}")).code, 201);
  EXPECT_THAT(guardian_.wrong(), IsEmpty());
  guardian_.AddForeign(Guardian::KeyOf(ClusterRoles(), "", "theirs"));
  EXPECT_EQ(Send(token, "scope-template", "PATCH", apply, role(R"({"a":"b"})")).code, 200);
  EXPECT_THAT(guardian_.wrong(), ElementsAre(HasSubstr("foreign")));
}

// The component deletes a declared grant that it made itself.
TEST_F(GuardianTest, WhatIsWantedIsTakenAway) {
  ASSERT_EQ(
      cluster_.Create(Templates(),
                      *ParseJson(
                          R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeTemplate",
                    "metadata":{"name":"t"},"spec":{"clusterRoles":[{"generateName":"view-",
                    "rules":[],"subjects":[{"kind":"User","name":"u"}]}]}})")),
      201);
  ASSERT_EQ(
      cluster_.Create(Instances(),
                      *ParseJson(
                          R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance",
                    "metadata":{"name":"i"},
                    "spec":{"scopeTemplateName":"t","namespaces":["default"]}})")),
      201);
  const auto owner = [&](const apiserver::GroupResource& kind, const char* object_kind,
                         const char* name) {
    return StrCat(R"("ownerReferences":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":")",
                  object_kind, R"(","name":")", name, R"(","uid":")",
                  cluster_.Get(kind, "", name)["metadata"]["uid"].asString(),
                  R"(","controller":true}])");
  };
  ASSERT_EQ(cluster_.Create(
                ClusterRoles(),
                *ParseJson(StrCat(
                    R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","rules":[],
                    "metadata":{"name":"scope-template:view-bcdfghjklm",)",
                    owner(Templates(), "ScopeTemplate", "t"), "}}"))),
            201);
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(
      cluster_.Create(RoleBindings(),
                      *ParseJson(StrCat(
                          R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
                    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
                    "name":"scope-template:view-bcdfghjklm"},"metadata":{"namespace":"default","name":"b",)",
                          owner(Instances(), "ScopeInstance", "i"), "}}"))),
      201);
  const std::string token = TokenOf("scope-instance");
  EXPECT_EQ(Send(token, "scope-instance", "DELETE", StrCat(kBindings, "/b")).code, 200);
  EXPECT_THAT(guardian_.wrong(), ElementsAre(HasSubstr("taken away")));
}

}  // namespace
}  // namespace mandate::simulation
