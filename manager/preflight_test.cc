#include "manager/preflight.h"

#include <gmock/gmock.h>

#include <set>

#include "manager/client/testing/client_fixture.h"
#include "manager/client/testing/preflight_mandate.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct PreflightTest : ClientFixture {
  PreflightTest() {
    options.mandate = &kPreflightMandate;
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
                     {.mandate = &kPreflightMandate,
                      .username = "system:serviceaccount:mandate:mandate-manager-scope",
                      .ns = "mandate",
                      .service_account = "mandate-manager-scope",
                      .watch_namespaces = namespaces});
  }
  std::vector<std::string> namespaces;
  std::string username = "system:serviceaccount:mandate:mandate-manager-scope";
  std::set<std::string> asked;
  std::set<std::string> denied;
};

TEST_F(PreflightTest, AsksForEachDeclaredVerbAndNothingExternal) {
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->missing.empty());
  EXPECT_EQ(report->manifest, "");
  EXPECT_EQ(report->ToStatus(), absl::OkStatus());
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

TEST_F(PreflightTest, AWatchedNamespaceMayHaveARoleInstead) {
  const std::string create =
      R"({"group":"rbac.authorization.k8s.io","resource":"rolebindings","verb":"create"})";
  const auto in = [&](const std::string& ns) {
    return R"({"group":"rbac.authorization.k8s.io","namespace":")" + ns +
           R"(","resource":"rolebindings","verb":"create"})";
  };
  denied = {create};
  namespaces = {"shop", "bank"};
  auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->ToStatus(), absl::OkStatus());
  EXPECT_TRUE(asked.contains(in("shop")));
  EXPECT_TRUE(asked.contains(in("bank")));
  EXPECT_EQ(asked.size(), 9u) << "what the cluster grants is not asked for again";

  denied = {create, in("shop")};
  report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->missing.size(), 1u);
  EXPECT_EQ(report->missing[0].ns, "shop");
  EXPECT_THAT(report->manifest, HasSubstr(R"(kind: Role
metadata:
  name: mandate-manager-scope
  namespace: shop
rules:
- apiGroups: ["rbac.authorization.k8s.io"]
  resources: ["rolebindings", "rolebindings/status"]
  verbs: ["create", "patch"]
---
)"));
  EXPECT_THAT(report->manifest, Not(HasSubstr("ClusterRole\nmetadata")));
}

TEST_F(PreflightTest, ARoleGrantsNothingOfTheWholeCluster) {
  const std::string bind =
      R"({"group":"rbac.authorization.k8s.io","name":"edit","resource":"clusterroles",)"
      R"("verb":"bind"})";
  const std::string url = R"({"path":"/metrics","verb":"get"})";
  denied = {bind, url};
  namespaces = {"shop"};
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->missing.size(), 2u);
  EXPECT_EQ(asked.size(), 7u) << "neither is asked for in a namespace";
  EXPECT_THAT(report->manifest, HasSubstr(R"(kind: ClusterRole
metadata:
  name: mandate-manager-scope
rules:
- nonResourceURLs: ["/metrics"]
  verbs: ["get"]
- apiGroups: ["rbac.authorization.k8s.io"]
  resourceNames: ["edit"]
  resources: ["clusterroles"]
  verbs: ["bind"]
---
)"));
}

TEST_F(PreflightTest, ReportsMissingPermissionsWithTheirWholeRole) {
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
  const absl::Status status = report->ToStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("component scope (system:serviceaccount:mandate:mandate-manager-scope) may "
                        "not bind clusterroles.rbac.authorization.k8s.io \"edit\". Apply"));
}

TEST_F(PreflightTest, ReportsARoleForANamespacedRule) {
  denied = {R"({"group":"","namespace":"mandate","resource":"secrets","verb":"get"})"};
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->manifest, HasSubstr("kind: Role\nmetadata:\n  name: mandate-manager-scope\n"
                                          "  namespace: mandate\nrules:\n- apiGroups: [\"\"]\n"));
  EXPECT_THAT(report->manifest, HasSubstr("kind: RoleBinding\n"));
  EXPECT_THAT(report->manifest, Not(HasSubstr("ClusterRole")));
  EXPECT_THAT(std::string(report->ToStatus().message()),
              HasSubstr("may not get secrets in namespace mandate."));
}

TEST_F(PreflightTest, ReportsOneRoleForEachNamespace) {
  denied = {R"({"group":"","namespace":"mandate","resource":"secrets","verb":"get"})",
            R"({"path":"/metrics","verb":"get"})"};
  const auto report = Run();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->missing.size(), 2u);
  EXPECT_THAT(report->manifest, HasSubstr("kind: ClusterRole\n"));
  EXPECT_THAT(report->manifest, HasSubstr("---\napiVersion: rbac.authorization.k8s.io/v1\n"
                                          "kind: Role\n"));
}

TEST_F(PreflightTest, RejectsAnotherUserBeforeAskingForPermissions) {
  username = "kubernetes-admin";
  const auto report = Run();
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("user \"kubernetes-admin\""));
  EXPECT_TRUE(asked.empty());
}

TEST_F(PreflightTest, ReturnsErrorsOfTheServer) {
  server = [](const HttpRequest&) { return FakeReply::Code(500); };
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInternal);
}

TEST_F(PreflightTest, ReportsTheServersReason) {
  for (const char* answer :
       {R"("reason":"role is gone")", R"("reason":"role is gone","evaluationError":"x")",
        R"("evaluationError":"role is gone")"}) {
    server = [this, answer](const HttpRequest& request) {
      if (request.target.ends_with("/selfsubjectreviews")) {
        return FakeReply::Json(
            201, StrCat(R"({"status":{"userInfo":{"username":")", username, R"("}}})"));
      }
      return FakeReply::Json(201, StrCat(R"({"status":{"allowed":false,)", answer, "}}"));
    };
    const auto report = Run();
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(std::string(report->ToStatus().message()),
                HasSubstr(" (the API server says: role is gone). Apply"));
  }
}

TEST(PreflightReportTest, ListsTenAndCountsTheRest) {
  PreflightReport report;
  report.subject = "component scope";
  for (int i = 0; i < 12; ++i) {
    rbac::Rule rule;
    rule.verbs = {"get"};
    rule.api_groups = {""};
    rule.resources = {StrCat("r", i)};
    report.missing.push_back({.ns = "", .rule = std::move(rule)});
    const std::string message(report.ToStatus().message());
    EXPECT_EQ(message.find(StrCat("get r", i)) != message.npos, i < 10) << message;
    EXPECT_EQ(message.find(StrCat(" and ", i - 9, " more. Apply")) != message.npos, i >= 10)
        << message;
  }
}

}  // namespace
}  // namespace mandate
