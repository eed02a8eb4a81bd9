#include "rbacgen/analysis/manifests.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rbacgen/analysis/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

constexpr char kYaml[] = R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: ns}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules:
- apiGroups: [""]
  resources: [pods]
  resourceNames: [web]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part, labels: {agg: "true"}}
rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: whole}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {agg: "true"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: ns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: there, namespace: elsewhere}, {kind: User, name: ann}]
)";

TEST(ReadManifests, ReadsWhatMatters) {
  const World world = WorldOf(kYaml);
  ASSERT_EQ(world.policy.roles.size(), 1);
  EXPECT_EQ(world.policy.roles[0].ns, "default");
  EXPECT_EQ(world.policy.roles[0].rules[0], (rbac::Rule{{"get"}, {""}, {"pods"}, {"web"}, {}}));
  ASSERT_EQ(world.policy.cluster_roles.size(), 2);
  EXPECT_EQ(world.policy.cluster_roles[1].rules, world.policy.cluster_roles[0].rules);
  ASSERT_EQ(world.policy.role_bindings.size(), 1);
  EXPECT_EQ(world.policy.role_bindings[0].role_ref.name, "r");
  EXPECT_TRUE(world.accounts.contains({"ns", "sa"}));
  EXPECT_TRUE(world.accounts.contains({"elsewhere", "there"}));
}

TEST(ReadManifests, ReadsAListInJson) {
  const World world = WorldOf(R"({"kind":"List","apiVersion":"v1","items":[
    {"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"b"},
     "roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"Group","name":"g"}]},
    {"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r"},
     "rules":null}]})");
  ASSERT_EQ(world.policy.cluster_role_bindings.size(), 1);
  EXPECT_EQ(world.policy.cluster_role_bindings[0].subjects[0].name, "g");
  EXPECT_EQ(world.policy.cluster_roles.size(), 1);
}

TEST(ReadManifests, SaysWhatIsWrong) {
  const auto broken = ReadManifests("x.yaml", "a: [\nb", "default");
  EXPECT_THAT(std::string(broken.status().message()), HasSubstr("x.yaml: line 2"));
  const auto helm = ReadManifests("x.yaml", "{{- if .Values.x }}\na: b\n", "default");
  EXPECT_THAT(std::string(helm.status().message()), HasSubstr("helm template"));
  EXPECT_TRUE(ReadManifests("x.yaml", "", "default").ok());
}

}  // namespace
}  // namespace mandate::rbacgen
