#include "rbacgen/ask/world_diff.h"

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

std::string Diff(std::string_view before, std::string_view now) {
  std::string text = DiffText(DiffWorlds(TreeOf(before), TreeOf(now)));
  // The token rights of base follow from the names of the components.
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
       "  + may create pods: runs as any ServiceAccount there (critical)\n"
       "  - may no longer list pods\n"},
      {"a star takes in the rest", "// +kubebuilder:rbac:groups=apps,resources=*,verbs=get\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n"
       "// +kubebuilder:rbac:groups=apps,resources=*,verbs=get\n",
       ""},
      {"from everywhere to one namespace",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace=n\n",
       "manager\n"
       "  - may no longer get deployments.apps\n"
       "  - may no longer create and patch events.events.k8s.io\n"},
      {"from one namespace to everywhere",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace=n\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
       "manager\n"
       "  + may get deployments.apps\n"
       "  + may create and patch events.events.k8s.io\n"},
      {"names", "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
       "// +kubebuilder:rbac:groups=apps,resources=deployments,resourceNames=a;b,verbs=get\n",
       "manager\n"
       "  - may no longer get deployments.apps\n"},
      {"an external rule",
       "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get\n",
       "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get;list\n",
       "manager\n"
       "  + may, after an administrator grants it, list deployments.apps\n"},
      {"the first external rule", "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n"
       "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get\n",
       "manager\n"
       "  + may, after an administrator grants it, get deployments.apps\n"},
      {"the last external rule",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n"
       "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get\n",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n",
       "manager\n"
       "  - may no longer, after an administrator grants it, get deployments.apps\n"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Diff(c.before, c.now), c.want) << c.name;
}

TEST(DiffWorlds, ListsNewAndRemovedComponents) {
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

TEST(DiffWorlds, IncludesRightsFromTheGroupsOfComponents) {
  const std::string marker = "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n";
  constexpr char kSecrets[] = "{apiGroups: [''], resources: [secrets], verbs: [get]}";
  const auto bound = [&](const std::string& role, const std::string& group,
                         const std::string& rules) {
    World world = TreeOf(marker);
    Merge(
        WorldOf("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " +
                role + "}, rules: [" + rules +
                "]}\n---\n"
                "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: "
                "{name: x}, roleRef: {kind: ClusterRole, name: " +
                role + "}, subjects: [{kind: Group, name: '" + group + "'}]}"),
        &world);
    return world;
  };
  const struct {
    const char* role;
    const char* group;
    bool is_theirs;
  } kCases[] = {
      {"reader", "system:serviceaccounts:mandate-system", true},
      {"reader", "system:serviceaccounts", true},
      {"reader", "system:authenticated", true},
      {"reader", "system:serviceaccounts:other", false},
      {"reader", "developers", false},
      // Every cluster has a role of this name that is bound to all users, but with other rules.
      {"system:discovery", "system:authenticated", true},
      {"system:basic-user", "system:authenticated", true},
      {"system:service-account-issuer-discovery", "system:serviceaccounts", true},
      {"system:public-info-viewer", "system:unauthenticated", false},
  };
  for (const auto& c : kCases) {
    const std::string gained = "  + may get secrets: reads credentials (critical)\n";
    const std::string theirs = "base\n" + gained + "manager\n" + gained;
    EXPECT_EQ(DiffText(DiffWorlds(TreeOf(marker), bound(c.role, c.group, kSecrets))),
              StrCat(c.is_theirs ? theirs : "", "group ", c.group, "\n", gained))
        << c.role << " " << c.group;
  }
}

TEST(DiffWorlds, OmitsRightsThatEveryClusterGrantsToAllUsers) {
  const auto bound = [](const std::string& role, const std::string& group,
                        const std::string& rules) {
    return WorldOf(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + role +
        "}, rules: [" + rules +
        "]}\n---\n"
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: "
        "{name: x}, roleRef: {kind: ClusterRole, name: " +
        role + "}, subjects: [{kind: Group, name: '" + group + "'}]}");
  };
  constexpr char kDiscovery[] = "{nonResourceURLs: [/api, '/apis/*', /healthz], verbs: [get]}";
  constexpr char kMore[] = "{nonResourceURLs: [/api, /metrics], verbs: [get]}";
  constexpr char kOneself[] =
      "{apiGroups: [authorization.k8s.io], resources: [selfsubjectaccessreviews], verbs: [create]}";
  const struct {
    const char* role;
    const char* group;
    const char* rules;
    const char* want;
  } kCases[] = {
      {"system:discovery", "system:authenticated", kDiscovery, ""},
      {"system:discovery", "system:serviceaccounts:shop", kDiscovery, ""},
      {"system:basic-user", "system:authenticated", kOneself, ""},
      {"system:discovery", "system:authenticated", kMore, "  + may get /metrics\n"},
      // Kubernetes does not give these to clients without credentials.
      {"system:discovery", "system:unauthenticated", kDiscovery,
       "  + may get /api, /apis/* and /healthz\n"},
      {"system:public-info-viewer", "system:unauthenticated",
       "{nonResourceURLs: [/healthz], verbs: [get]}", ""},
      {"cluster-admin", "system:masters", "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}",
       "  + may do anything to every resource: does anything (critical)\n"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(DiffText(DiffWorlds(World(), bound(c.role, c.group, c.rules))),
              *c.want == '\0' ? "" : StrCat("group ", c.group, "\n", c.want))
        << c.role << " " << c.group << " " << c.rules;
  }
}

TEST(DiffWorlds, IgnoresExternalRulesIfOneSideHasNoMarkers) {
  const std::string marker =
      "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get\n";
  World cluster = TreeOf(marker);
  cluster.later.clear();
  cluster.knows_later = false;
  EXPECT_EQ(DiffText(DiffWorlds(TreeOf(marker), cluster)), "");
}

TEST(DiffWorlds, ComparesSubjectsWithoutComponents) {
  const std::string role =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, "
      "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}\n---\n";
  const std::string binding =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, "
      "namespace: n}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: Group, name: g}]}";
  const World before = WorldOf(role), now = WorldOf(role + binding);
  EXPECT_EQ(DiffText(DiffWorlds(before, now)),
            "group g\n  + may get secrets in n: reads credentials (critical)\n");
  EXPECT_EQ(DiffText(DiffWorlds(now, before)), "group g\n  - may no longer get secrets in n\n");
}

}  // namespace
}  // namespace mandate::rbacgen
