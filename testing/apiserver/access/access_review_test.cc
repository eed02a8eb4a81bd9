#include "testing/apiserver/access/access_review.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr char kBecause[] =
    "RBAC: allowed by RoleBinding \"b/shop\" of Role \"reader\" to User \"jane\"";

class AccessReviewTest : public ::testing::Test {
 protected:
  AccessReviewTest() {
    static_cast<rbac::UserInfo&>(request_.user) = rbac::AuthenticatedInfo("jane");
    request_.attributes.ns = "shop";
  }
  static rbac::Policy Policy() {
    const rbac::Subject jane{.kind = "User", .api_group = "", .name = "jane", .ns = ""};
    rbac::Rule pods;
    pods.verbs = {"get"};
    pods.api_groups = {""};
    pods.resources = {"pods"};
    pods.resource_names = {"a"};
    rbac::Rule paths;
    paths.verbs = {"get"};
    paths.non_resource_urls = {"/x*"};
    return {.roles = {{.ns = "shop", .name = "reader", .rules = {pods}}},
            .cluster_roles = {{.name = "paths", .rules = {paths}}},
            .role_bindings = {{.ns = "shop",
                               .name = "b",
                               .role_ref = {.api_group = "", .kind = "Role", .name = "reader"},
                               .subjects = {jane}},
                              {.ns = "lost",
                               .name = "b",
                               .role_ref = {.api_group = "", .kind = "Role", .name = "gone"},
                               .subjects = {jane}}},
            .cluster_role_bindings = {
                {.name = "p",
                 .role_ref = {.api_group = "", .kind = "ClusterRole", .name = "paths"},
                 .subjects = {jane}}}};
  }
  static Json::Value Parse(std::string_view text) { return ParseJson(text).value(); }
  static std::string Message(const absl::StatusOr<Json::Value>& answer) {
    return ApiStatus(answer.status()) ? ApiStatus(answer.status())->message() : "none";
  }

  Request request_;
  rbac::Authorizer authorizer_{Policy()};
};

TEST_F(AccessReviewTest, OneselfIsWhoAsks) {
  const auto answer =
      ReviewOwnAccess(authorizer_, request_, Parse(R"({"metadata":{},"spec":{"resourceAttributes":{
          "verb":"get","resource":"pods","namespace":"shop","name":"a"}}})"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE((*answer)["status"]["allowed"].asBool());
  EXPECT_EQ((*answer)["status"]["reason"].asString(), kBecause);
  EXPECT_EQ((*answer)["spec"]["resourceAttributes"]["name"].asString(), "a");

  request_.user.name = "john";
  EXPECT_EQ(WriteJson((*ReviewOwnAccess(authorizer_, request_, *answer))["status"]),
            R"({"allowed":false})");
}

TEST_F(AccessReviewTest, AnotherIsWhoIsNamed) {
  const auto status = [&](std::string_view spec) {
    const auto answer =
        ReviewAccess(authorizer_, request_, Parse(R"({"spec":)" + std::string(spec) + "}"));
    return answer.ok() ? WriteJson((*answer)["status"]) : Message(answer);
  };
  EXPECT_EQ(status(R"({"user":"jane","nonResourceAttributes":{"verb":"get","path":"/xy"}})"),
            R"({"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"p\" of )"
            R"(ClusterRole \"paths\" to User \"jane\""})");
  EXPECT_EQ(status(R"({"user":"jane","nonResourceAttributes":{"verb":"get","path":"/y"}})"),
            R"({"allowed":false})");
  EXPECT_EQ(status(R"({"groups":["system:masters"],"resourceAttributes":{"verb":"delete"}})"),
            R"({"allowed":true})");
  EXPECT_EQ(status(R"({"user":"jane","resourceAttributes":{"verb":"get","resource":"secrets",
                       "namespace":"lost"}})"),
            R"({"allowed":false,"reason":"RBAC: role.rbac.authorization.k8s.io \"gone\" not )"
            R"(found"})");
  EXPECT_EQ(status(R"({"user":"john","resourceAttributes":{
                       "labelSelector":{"rawSelector":"a=,=b,"}}})"),
            R"({"allowed":false,"evaluationError":"spec.resourceAttributes.labelSelector ignored )"
            R"(due to parse error"})");
  EXPECT_EQ(status(R"({"user":"john","resourceAttributes":{
                       "fieldSelector":{"rawSelector":"a"},"labelSelector":{"rawSelector":"l in"}}})"),
            R"({"allowed":false,"evaluationError":"spec.resourceAttributes.fieldSelector ignored )"
            R"(due to parse error; spec.resourceAttributes.labelSelector ignored due to parse )"
            R"(error"})");
}

TEST_F(AccessReviewTest, RefusesAsTheServerDoes) {
  constexpr char kIs[] = ".authorization.k8s.io \"\" is invalid: ";
  struct Case {
    std::string object, message;
  };
  const Case cases[] = {
      {R"({})",
       "[spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
       "resourceAttributes must be specified, spec.user: Invalid value: \"\": at least one of user "
       "or group must be specified]"},
      {R"({"spec":{"user":"a","resourceAttributes":{},"nonResourceAttributes":{"path":"/x",
           "verb":"get"}}})",
       "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be "
       "specified in combination with resourceAttributes"},
      {R"({"metadata":{"name":"x"},"spec":{"user":"a","resourceAttributes":{}}})",
       "metadata: Invalid value: {\"name\":\"x\"}: must be empty"},
      {R"({"spec":{"user":"a","resourceAttributes":{"fieldSelector":{}}}})",
       "spec.resourceAttributes.fieldSelector.requirements: Required value: when "
       "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is "
       "required"},
      {R"({"spec":{"user":"a","resourceAttributes":{"labelSelector":{"rawSelector":"a",
           "requirements":[{"key":"a"}]}}}})",
       "spec.resourceAttributes.labelSelector.rawSelector: Invalid value: \"a\": may not specified "
       "at the same time as requirements"},
  };
  for (const Case& c : cases) {
    const auto answer = ReviewAccess(authorizer_, request_, Parse(c.object));
    EXPECT_EQ(HttpCode(answer.status()), 422) << c.object;
    EXPECT_EQ(Message(answer), kIs + c.message);
  }
}

TEST_F(AccessReviewTest, ALocalOneIsOfItsNamespaceOnly) {
  const auto review = [&](std::string_view object) {
    return ReviewLocalAccess(authorizer_, request_, Parse(object));
  };
  const auto answer = review(R"({"spec":{"user":"jane","resourceAttributes":{"verb":"get",
      "resource":"pods","namespace":"shop","name":"a"}}})");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ((*answer)["metadata"]["namespace"].asString(), "shop");
  EXPECT_TRUE((*answer)["status"]["allowed"].asBool());

  EXPECT_THAT(Message(review(R"({"spec":{"user":"a","resourceAttributes":{"namespace":"x"}}})")),
              HasSubstr("spec.resourceAttributes.namespace: Invalid value: \"x\": must match "
                        "metadata.namespace"));
  EXPECT_THAT(
      Message(review(R"({"spec":{"user":"a","nonResourceAttributes":{"verb":"get","path":"/"}}})")),
      HasSubstr("spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":\"get\"}: "
                "disallowed on this kind of request"));
  EXPECT_THAT(Message(review(R"({"metadata":{"namespace":"shop","name":"x"},
                                "spec":{"user":"a","resourceAttributes":{"namespace":"shop"}}})")),
              HasSubstr("must be empty except for namespace"));
}

TEST_F(AccessReviewTest, RulesAreThoseOfBothScopes) {
  const auto answer =
      ReviewOwnRules(authorizer_, request_, Parse(R"({"spec":{"namespace":"shop"}})"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(WriteJson(*answer),
            R"({"metadata":{},"spec":{},"status":{"incomplete":false,"nonResourceRules":[)"
            R"({"nonResourceURLs":["/x*"],"verbs":["get"]}],"resourceRules":[{"apiGroups":[""],)"
            R"("resourceNames":["a"],"resources":["pods"],"verbs":["get"]}]}})");
  const auto lost =
      ReviewOwnRules(authorizer_, request_, Parse(R"({"spec":{"namespace":"lost"}})"));
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_FALSE((*lost)["status"]["incomplete"].asBool());
  EXPECT_EQ((*lost)["status"]["evaluationError"].asString(),
            "role.rbac.authorization.k8s.io \"gone\" not found");
  EXPECT_EQ(Message(ReviewOwnRules(authorizer_, request_, Parse("{}"))), "no namespace on request");
}

}  // namespace
}  // namespace mandate::apiserver
