#include "manager/client/preflight.h"

#include <gmock/gmock.h>

#include <set>

#include "manager/client/client_fixture.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kWrite[] = {"create", "patch"};
constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kBindings[] = {"rolebindings", "rolebindings/status"};
constexpr std::string_view kBind[] = {"bind"};
constexpr std::string_view kRoles[] = {"clusterroles"};
constexpr std::string_view kEdit[] = {"edit"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kGet[] = {"get"};
constexpr std::string_view kMetrics[] = {"/metrics"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kWrite,
              .api_groups = kRbac,
              .resources = kBindings,
              .resource_names = {},
              .non_resource_urls = {}},
     .ns = ""},
    {.rule = {.verbs = kBind,
              .api_groups = kRbac,
              .resources = kRoles,
              .resource_names = kEdit,
              .non_resource_urls = {}},
     .ns = ""},
    {.rule = {.verbs = kGet,
              .api_groups = {},
              .resources = {},
              .resource_names = {},
              .non_resource_urls = kMetrics},
     .ns = ""},
    {.rule = {.verbs = kGet,
              .api_groups = kCore,
              .resources = kSecrets,
              .resource_names = {},
              .non_resource_urls = {}},
     .ns = "mandate"},
    {.rule = {.verbs = kEverything,
              .api_groups = kEverything,
              .resources = kEverything,
              .resource_names = {},
              .non_resource_urls = {}},
     .ns = "",
     .external = true},
};
constexpr rbac::Mandate kMandate = {.component = "scope", .rules = kRules};

struct PreflightTest : ClientFixture {
  PreflightTest() {
    options.mandate = &kMandate;
    server = [this](const HttpRequest& request) {
      if (request.target == "/apis/authentication.k8s.io/v1/selfsubjectreviews") {
        return FakeReply::Json(
            201, StrCat(R"({"status":{"userInfo":{"username":")", username, R"("}}})"));
      }
      EXPECT_EQ(request.target, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
      const Json::Value spec = (*ParseJson(request.body))["spec"];
      const std::string question =
          WriteJson(spec.isMember("resourceAttributes") ? spec["resourceAttributes"]
                                                        : spec["nonResourceAttributes"]);
      asked.insert(question);
      return FakeReply::Json(201, StrCat(R"({"status":{"allowed":)",
                                         denied.contains(question) ? "false" : "true", "}}"));
    };
  }
  absl::StatusOr<PreflightReport> Run() {
    return Preflight(In(absl::Minutes(1)), client(),
                     {.mandate = &kMandate,
                      .username = "system:serviceaccount:mandate:mandate-manager-scope",
                      .ns = "mandate",
                      .service_account = "mandate-manager-scope"});
  }
  std::string username = "system:serviceaccount:mandate:mandate-manager-scope";
  std::set<std::string> asked;
  std::set<std::string> denied;
};

TEST_F(PreflightTest, AsksForEachDeclaredVerbAndNothingExternal) {
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->missing.empty());
  EXPECT_EQ(report->manifest, "");
  EXPECT_EQ(report->ToStatus("scope"), absl::OkStatus());
  EXPECT_THAT(
      asked,
      testing::UnorderedElementsAre(
          R"({"group":"rbac.authorization.k8s.io","resource":"rolebindings","verb":"create"})",
          R"({"group":"rbac.authorization.k8s.io","resource":"rolebindings","verb":"patch"})",
          R"({"group":"rbac.authorization.k8s.io","resource":"rolebindings",)"
          R"("subresource":"status","verb":"create"})",
          R"({"group":"rbac.authorization.k8s.io","resource":"rolebindings",)"
          R"("subresource":"status","verb":"patch"})",
          R"({"group":"rbac.authorization.k8s.io","name":"edit","resource":"clusterroles",)"
          R"("verb":"bind"})",
          R"({"path":"/metrics","verb":"get"})",
          R"({"group":"","namespace":"mandate","resource":"secrets","verb":"get"})"));
  for (const RecordedRequest& request : fake.requests()) {
    if (request.target.ends_with("/token")) continue;
    EXPECT_EQ(request.token, "scope-1");
  }
}

TEST_F(PreflightTest, WhatIsMissingComesWithTheWholeRoleThatLacksIt) {
  denied = {R"({"group":"rbac.authorization.k8s.io","name":"edit","resource":"clusterroles",)"
            R"("verb":"bind"})"};
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->missing.size(), 1u);
  EXPECT_EQ(report->missing[0].ns, "");
  EXPECT_EQ(report->missing[0].rule.verbs[0], "bind");
  EXPECT_EQ(report->manifest,
            R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: mandate-manager-scope
rules:
- nonResourceURLs: ["/metrics"]
  verbs: ["get"]
- apiGroups: ["rbac.authorization.k8s.io"]
  resourceNames: ["edit"]
  resources: ["clusterroles"]
  verbs: ["bind"]
- apiGroups: ["rbac.authorization.k8s.io"]
  resources: ["rolebindings", "rolebindings/status"]
  verbs: ["create", "patch"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: mandate-manager-scope
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: mandate-manager-scope
subjects:
- kind: ServiceAccount
  name: mandate-manager-scope
  namespace: mandate
)");
  const absl::Status status = report->ToStatus("scope");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("component scope (system:serviceaccount:mandate:mandate-manager-scope) may "
                        "not bind clusterroles.rbac.authorization.k8s.io \"edit\". Apply"));
}

TEST_F(PreflightTest, ARoleIsANamespacesOwn) {
  denied = {R"({"group":"","namespace":"mandate","resource":"secrets","verb":"get"})"};
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->manifest, HasSubstr("kind: Role\nmetadata:\n  name: mandate-manager-scope\n"
                                          "  namespace: mandate\nrules:\n- apiGroups: [\"\"]\n"));
  EXPECT_THAT(report->manifest, HasSubstr("kind: RoleBinding\n"));
  EXPECT_THAT(report->manifest, Not(HasSubstr("ClusterRole")));
  EXPECT_THAT(std::string(report->ToStatus("scope").message()),
              HasSubstr("may not get secrets in namespace mandate."));
}

TEST_F(PreflightTest, NotOurselvesIsAnErrorBeforeAnythingElse) {
  username = "kubernetes-admin";
  const auto report = Run();
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("for \"kubernetes-admin\""));
  EXPECT_TRUE(asked.empty());
}

TEST_F(PreflightTest, ErrorsOfTheServerAreHandedOn) {
  server = [](const HttpRequest&) { return FakeReply::Code(500); };
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace mandate
