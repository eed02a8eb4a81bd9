#include "rbacgen/analysis/world_diff.h"

#include "gtest/gtest.h"
#include "rbacgen/analysis/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

std::string Diff(std::string_view before, std::string_view now) {
  std::string text = DiffText(DiffWorlds(TreeOf(before), TreeOf(now)));
  // Base's tokens follow from the components' names.
  if (const size_t base = text.find("base\n"); base == 0) {
    size_t end = text.find('\n') + 1;
    while (text.substr(end, 2) == "  ") end = text.find('\n', end) + 1;
    text.erase(0, end);
  }
  return text;
}

TEST(DiffWorlds, ComparesMeaningNotText) {
  const struct {
    const char* name;
    const char* before;
    const char* now;
    const char* want;
  } kCases[] = {
      {"the same in other words",
       "// +kubebuilder:rbac:groups=core,resources=pods;secrets,verbs=get;list\n",
       "// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list;get\n"
       "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get\n"
       "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=list\n",
       ""},
      {"a verb more, a verb less",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list\n",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;create\n",
       "manager\n"
       "  + may create pods: runs as any ServiceAccount there\n"
       "  - may no longer list pods\n"},
      {"a star takes in the rest", "// +kubebuilder:rbac:groups=apps,resources=*,verbs=get\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n"
       "// +kubebuilder:rbac:groups=apps,resources=*,verbs=get\n",
       ""},
      {"from everywhere to one namespace",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace=n\n",
       "manager\n"
       "  - may no longer get deployments.apps\n"},
      {"from one namespace to everywhere",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace=n\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
       "manager\n"
       "  + may get deployments.apps\n"},
      {"names", "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,resourceNames=a;b,verbs=get\n",
       "manager\n"
       "  - may no longer get deployments.apps\n"},
      {"an external rule",
       "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get\n",
       "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get;list\n",
       "manager\n"
       "  + may, once somebody else grants it, list deployments.apps\n"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Diff(c.before, c.now), c.want) << c.name;
}

TEST(DiffWorlds, NamesComponentsThatComeAndGo) {
  const std::string a =
      "// +mandate:component:name=a\n// +kubebuilder:rbac:groups=apps,resources=x,verbs=get\n";
  const std::string b =
      "// +mandate:component:name=b\n// +kubebuilder:rbac:groups=apps,resources=x,verbs=get\n";
  const auto diffs = DiffWorlds(TreeOf(a), TreeOf(b));
  ASSERT_EQ(diffs.size(), 3);  // a, b, and base, which makes their tokens
  EXPECT_EQ(diffs[0].kind, IdentityDiff::Kind::kGone);
  EXPECT_FALSE(diffs[0].lost.empty());
  EXPECT_EQ(diffs[1].title, "b");
  EXPECT_EQ(diffs[1].kind, IdentityDiff::Kind::kNew);
  EXPECT_EQ(diffs[2].title, "base");
}

TEST(DiffWorlds, ComparesSubjectsWhereThereAreNoComponents) {
  const std::string role =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, "
      "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}\n---\n";
  const std::string binding =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, "
      "namespace: n}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: Group, name: g}]}";
  const World before = WorldOf(role), now = WorldOf(role + binding);
  EXPECT_EQ(DiffText(DiffWorlds(before, now)),
            "group g\n  + may get secrets in n: reads credentials\n");
  EXPECT_EQ(DiffText(DiffWorlds(now, before)), "group g\n  - may no longer get secrets in n\n");
}

}  // namespace
}  // namespace mandate::rbacgen
