#include "rbacgen/chart_objects.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ComponentMandate> Components(std::string_view text) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", text, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return BuildMandates(sources);
}

ChartOptions Options() {
  ChartOptions options;
  options.base_name = "mm";
  options.part_of = "project";
  options.ns = "sys";
  options.managed_by = "rbacgen";
  return options;
}

// "Kind namespace/name" of each object.
std::vector<std::string> Names(const std::vector<Yaml>& objects) {
  std::vector<std::string> names;
  for (const Yaml& o : objects) {
    const Yaml& metadata = o["metadata"];
    names.push_back(o["kind"].text() + " " + metadata["namespace"].text() + "/" +
                    metadata["name"].text());
  }
  return names;
}

TEST(BuildChart, EveryComponentHasItsOwnIdentityAndGrants) {
  const auto chart = BuildChart(
      Components("// +mandate:component:name=b\n"
                 "// +kubebuilder:rbac:groups=g,resources=r,verbs=get,namespace=other\n"
                 "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get\n"
                 "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get,namespace=n\n"
                 "// +mandate:component:name=a\n"),
      Options());
  ASSERT_TRUE(chart.ok()) << chart.status();
  EXPECT_THAT(Names(chart->always),
              ElementsAre("ServiceAccount sys/mm", "Lease sys/mm", "Role sys/mm",
                          "RoleBinding sys/mm",                            //
                          "ServiceAccount sys/mm-a", "ClusterRole /mm-a",  //
                          "ClusterRoleBinding /mm-a",                      //
                          "ServiceAccount sys/mm-b", "ClusterRole /mm-b",  //
                          "ClusterRoleBinding /mm-b", "Role other/mm-b",   //
                          "RoleBinding other/mm-b",                        //
                          "ClusterRole /mm-b-external", "Role n/mm-b-external"));
}

TEST(BuildChart, ABindingHasExactlyOneSubject) {
  const auto chart = BuildChart(Components("// +mandate:component:name=a\n"), Options());
  ASSERT_TRUE(chart.ok());
  EXPECT_EQ(chart->always[6].Write(),
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: ClusterRoleBinding\n"
            "metadata:\n"
            "  labels:\n"
            "    app.kubernetes.io/component: a\n"
            "    app.kubernetes.io/managed-by: rbacgen\n"
            "    app.kubernetes.io/name: mm\n"
            "    app.kubernetes.io/part-of: project\n"
            "  name: mm-a\n"
            "roleRef:\n"
            "  apiGroup: rbac.authorization.k8s.io\n"
            "  kind: ClusterRole\n"
            "  name: mm-a\n"
            "subjects:\n"
            "- kind: ServiceAccount\n"
            "  name: mm-a\n"
            "  namespace: sys\n");
}

TEST(BuildChart, BaseMintsTokensOfTheComponentsAndUpdatesItsLease) {
  const auto chart = BuildChart(
      Components("// +mandate:component:name=a\n// +mandate:component:name=b\n"), Options());
  ASSERT_TRUE(chart.ok());
  EXPECT_THAT(chart->always[1].Write(), HasSubstr("kind: Lease"));
  EXPECT_THAT(chart->always[1].Write(), HasSubstr("spec: {}\n"));
  EXPECT_EQ(chart->always[2]["rules"].Write(),
            "- apiGroups:\n  - \"\"\n"
            "  resourceNames:\n  - mm-a\n  - mm-b\n"
            "  resources:\n  - serviceaccounts/token\n  verbs:\n  - create\n"
            "- apiGroups:\n  - coordination.k8s.io\n"
            "  resourceNames:\n  - mm\n"
            "  resources:\n  - leases\n  verbs:\n  - get\n  - update\n");
}

TEST(BuildChart, ToCreateServiceAccountsIsApart) {
  const auto chart = BuildChart(Components("// +mandate:component:name=a\n"), Options());
  ASSERT_TRUE(chart.ok());
  EXPECT_THAT(Names(chart->to_create_service_accounts),
              ElementsAre("Role sys/mm-create-service-accounts",
                          "RoleBinding sys/mm-create-service-accounts"));
  EXPECT_EQ(chart->to_create_service_accounts[0]["rules"].Write(),
            "- apiGroups:\n  - \"\"\n  resources:\n  - serviceaccounts\n  verbs:\n  - create\n"
            "- apiGroups:\n  - \"\"\n  resourceNames:\n  - mm-a\n"
            "  resources:\n  - serviceaccounts\n  verbs:\n  - get\n");
}

TEST(BuildChart, ReasonsBecomeAnAnnotation) {
  const auto chart =
      BuildChart(Components("// +mandate:component:name=a\n"
                            "// +mandate:rbac:justify=\"It {{ must }}.\",groups=g,resources=r,"
                            "verbs=bind\n"),
                 Options());
  ASSERT_TRUE(chart.ok());
  EXPECT_THAT(chart->always[5].Write(Yaml::Flavor::kHelm),
              HasSubstr("  annotations:\n"
                        "    mandate.io/justification: 'bind of r: It {{\"{{\"}} must }}.'\n"));
}

TEST(BuildChart, TwoObjectsOfOneNameAreAnError) {
  const auto chart =
      BuildChart(Components("// +mandate:component:name=a\n"
                            "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get\n"
                            "// +mandate:component:name=a-external\n"),
                 Options());
  EXPECT_EQ(chart.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(chart.status().message(),
              HasSubstr("two components would own the ClusterRole mm-a-external"));
}

}  // namespace
}  // namespace mandate::rbacgen
