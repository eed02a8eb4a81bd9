#include "rbacgen/ask/subjects.h"

#include <string>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

std::string Binding(std::string_view kind, std::string_view name, std::string_view subjects) {
  return StrCat("---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ", kind,
                ", metadata: {namespace: shop, name: ", name,
                "}, roleRef: {kind: ClusterRole, name: r}, subjects: [", subjects, "]}\n");
}

std::string Titles(const World& before, const World& now) {
  std::string titles;
  for (const Compared& c : SubjectsToCompare(before, now)) {
    StrAppend(&titles, c.title, c.before.has_value() ? "" : " new",
              c.now.has_value() ? "" : " gone", "; ");
  }
  return titles;
}

TEST(SubjectsToCompare, AreTheSubjectsOfAllBindings) {
  const World before = WorldOf(Binding("RoleBinding", "a", "{kind: ServiceAccount, name: web}"));
  const World now = WorldOf(
      Binding("ClusterRoleBinding", "b",
              "{kind: ServiceAccount, name: web, namespace: shop}, {kind: User, name: ann}, "
              "{kind: Group, name: ops}"));
  EXPECT_EQ(Titles(before, now), "group ops; shop/web; user ann; ");
  EXPECT_EQ(Titles(World(), World()), "");
}

TEST(SubjectsToCompare, ListAComponentOnce) {
  World before = WorldOf(Binding("RoleBinding", "a", "{kind: ServiceAccount, name: m-web}"));
  before.components["web"] = {"shop", "m-web"};
  before.components["old"] = {"shop", "m-old"};
  World now = WorldOf(
      Binding("RoleBinding", "a", "{kind: ServiceAccount, name: n-web}, {kind: User, name: ann}"));
  now.components["web"] = {"shop", "n-web"};
  now.components["fresh"] = {"shop", "n-fresh"};
  EXPECT_EQ(Titles(before, now), "fresh new; old gone; web; user ann; ");
}

// A tree declares only components, so a subject that it does not have is not reported as gone.
TEST(SubjectsToCompare, ForATreeAndAClusterAreOnlyComponents) {
  const World tree = TreeOf("// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n");
  World cluster = WorldOf(Binding("RoleBinding", "a", "{kind: User, name: ann}"));
  cluster.components = tree.components;
  EXPECT_EQ(Titles(tree, cluster), "base; manager; ");
  EXPECT_EQ(Titles(cluster, tree), "base; manager; ");
  EXPECT_EQ(Titles(cluster, cluster), "base; manager; user ann; ");
  EXPECT_EQ(Titles(tree, tree), "base; manager; ");
}

TEST(Subjects, WithGroupsAddsTheServersGroups) {
  const SubjectKey account = {"ServiceAccount", "shop", "web"};
  EXPECT_EQ(Alone(account).name, "system:serviceaccount:shop:web");
  EXPECT_TRUE(Alone(account).groups.empty());
  EXPECT_EQ(WithGroups(account).groups.size(), 3u);
  EXPECT_EQ(Alone({"User", "", "ann"}).name, "ann");
  EXPECT_EQ(WithGroups({"User", "", "ann"}).groups,
            std::vector<std::string>{"system:authenticated"});
  EXPECT_EQ(Alone({"Group", "", "ops"}).groups, std::vector<std::string>{"ops"});
  EXPECT_EQ(WithGroups({"Group", "", "ops"}).groups.size(), 2u);
  for (const SubjectKey& nobody : {SubjectKey{"User", "", "system:anonymous"},
                                   SubjectKey{"Group", "", "system:unauthenticated"}}) {
    EXPECT_EQ(WithGroups(nobody).name, "system:anonymous");
    EXPECT_EQ(WithGroups(nobody).groups, std::vector<std::string>{"system:unauthenticated"});
  }
}

}  // namespace
}  // namespace mandate::rbacgen
