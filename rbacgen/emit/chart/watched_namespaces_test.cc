#include "rbacgen/emit/chart/watched_namespaces.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rbacgen/emit/chart/chart_objects.h"
#include "rbacgen/markers/declarations.h"

namespace mandate::rbacgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

rbac::Rule R(std::vector<std::string> groups, std::vector<std::string> resources) {
  return {.verbs = {"list"}, .api_groups = std::move(groups), .resources = std::move(resources)};
}

TEST(ClusterScopedRules, HasWhatRolesCannotGrant) {
  const rbac::Rule url = {.verbs = {"get"}, .non_resource_urls = {"/metrics"}};
  const struct {
    const char* what;
    std::vector<rbac::Rule> rules, expected;
  } kCases[] = {
      {"nothing", {}, {}},
      {"only namespaced", {R({"", "apps"}, {"pods", "deployments/status"})}, {}},
      {"one resource of several", {R({""}, {"nodes", "pods"})}, {R({""}, {"nodes"})}},
      {"a subresource", {R({""}, {"nodes/proxy", "pods/log"})}, {R({""}, {"nodes/proxy"})}},
      {"in one group of several",
       {R({"", "metrics.k8s.io"}, {"nodes", "pods"})},
       {R({""}, {"nodes"})}},
      {"a URL", {url, R({""}, {"pods"})}, {url}},
      {"a CRD",
       {R({"example.com"}, {"widgets", "gadgets", "gadgets/status"})},
       {R({"example.com"}, {"gadgets", "gadgets/status"})}},
      {"its name in another group", {R({"example.org"}, {"gadgets"})}, {}},
      {"any resource", {R({"*"}, {"*"}), R({""}, {"*"}), R({"*"}, {"nodes"})}, {}},
  };
  for (const auto& [what, rules, expected] : kCases) {
    EXPECT_EQ(ClusterScopedRules(rules, {"gadgets.example.com"}), expected) << what;
  }
}

TEST(ClusterScopedRules, KeepsVerbsAndNames) {
  const rbac::Rule rule = {.verbs = {"get", "patch"},
                           .api_groups = {""},
                           .resources = {"namespaces"},
                           .resource_names = {"shop"}};
  EXPECT_EQ(ClusterScopedRules({rule}, {}), std::vector<rbac::Rule>{rule});
}

constexpr std::string_view kMixed =
    "// +mandate:component:name=a,events=none\n"
    "// +kubebuilder:rbac:groups=core,resources=pods;namespaces,verbs=list\n"
    "// +kubebuilder:rbac:groups=example.com,resources=gadgets,verbs=list\n"
    "// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get,namespace=shop\n";
constexpr std::string_view kNamespaced =
    "// +mandate:component:name=a,events=none\n"
    "// +kubebuilder:rbac:groups=core,resources=pods,verbs=list\n";

// The component's objects, for Helm or as plain manifests, without those of base.
std::string Component(std::string_view markers, std::vector<std::string> namespaces,
                      Yaml::Flavor flavor) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", markers, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  ChartOptions options;
  options.names = {.base = "mm"};
  options.settings.watch_namespaces = std::move(namespaces);
  options.cluster_scoped = {"gadgets.example.com"};
  const auto chart = BuildChart(BuildMandates(sources), options);
  EXPECT_TRUE(chart.ok()) << chart.status();
  return chart.ok() ? WriteDocuments(chart->back().objects, flavor) : "";
}

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(WatchedNamespaces, WithoutThemTheRoleIsBoundInTheCluster) {
  const std::string text = Component(kMixed, {}, Yaml::Flavor::kPlain);
  EXPECT_EQ(Count(text, "kind: ClusterRoleBinding\n"), 1u);
  EXPECT_EQ(Count(text, "kind: RoleBinding\n"), 1u) << "that of shop";
  EXPECT_THAT(text, AllOf(Not(HasSubstr("-watched")), Not(HasSubstr("-cluster-scoped"))));
}

TEST(WatchedNamespaces, EachHasABindingAndTheClusterOnlyWhatTheyCannotHave) {
  const std::string text = Component(kMixed, {"shop", "bank"}, Yaml::Flavor::kPlain);
  EXPECT_EQ(Count(text, "kind: ClusterRoleBinding\n"), 1u);
  EXPECT_EQ(Count(text, "kind: RoleBinding\n"), 3u) << "that of the marker for shop stays";
  for (const char* ns : {"shop", "bank"}) {
    EXPECT_THAT(text, HasSubstr(std::string("  name: mm-a-watched\n  namespace: ") + ns +
                                "\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n"
                                "  kind: ClusterRole\n  name: mm-a\n"));
  }
  EXPECT_THAT(text,
              HasSubstr("  name: mm-a-cluster-scoped\nrules:\n"
                        "- apiGroups:\n  - \"\"\n  resources:\n  - namespaces\n  verbs:\n  - list\n"
                        "- apiGroups:\n  - example.com\n  resources:\n  - gadgets\n"
                        "  verbs:\n  - list\n---\n"));
  EXPECT_THAT(text, HasSubstr("  kind: ClusterRole\n  name: mm-a-cluster-scoped\n"));
}

TEST(WatchedNamespaces, AComponentWithoutClusterScopedRightsHasNoneInTheCluster) {
  const std::string text = Component(kNamespaced, {"shop"}, Yaml::Flavor::kPlain);
  EXPECT_EQ(Count(text, "kind: ClusterRoleBinding\n"), 0u);
  EXPECT_EQ(Count(text, "kind: RoleBinding\n"), 1u);
}

TEST(WatchedNamespaces, InAChartTheValueDecides) {
  const std::string text = Component(kMixed, {}, Yaml::Flavor::kHelm);
  EXPECT_THAT(text, HasSubstr("{{- if not ($.Values.watchNamespaces) }}\n---\n"));
  EXPECT_THAT(text,
              HasSubstr("{{- range $each := $.Values.watchNamespaces }}\n{{- with $ }}\n---\n"));
  EXPECT_THAT(text, HasSubstr("  name: mm-a-watched\n  namespace: {{ $each | quote }}\n"));
  EXPECT_THAT(text, HasSubstr("{{- end }}\n{{- end }}\n{{- if $.Values.watchNamespaces }}\n---\n"));
}

}  // namespace
}  // namespace mandate::rbacgen
