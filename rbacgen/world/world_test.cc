#include "rbacgen/world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;

World Example() {
  return TreeOf(
      "// +mandate:component:name=a\n"
      "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get,namespace=shop\n"
      "// +mandate:rbac:granted=external,groups=core,resources=nodes,verbs=get\n");
}

TEST(RemoveRepeated, KeepsTheLastObject) {
  World world, other;
  const auto role = [](std::string name, std::string verb) {
    rbac::ClusterRole r;
    r.name = std::move(name);
    r.rules = {{.verbs = {std::move(verb)}, .api_groups = {""}, .resources = {"pods"}}};
    return r;
  };
  world.policy.cluster_roles = {role("a", "get"), role("b", "get")};
  world.aggregation["a"].labels["k"] = "first";
  other.policy.cluster_roles = {role("a", "list")};
  other.aggregation["a"].labels["k"] = "last";
  rbac::RoleBinding here, there;
  here.ns = "m";
  there.ns = "n";
  here.name = there.name = "x";
  other.policy.role_bindings = {here, there};
  Merge(std::move(other), &world);
  EXPECT_THAT(RemoveRepeated(&world), ElementsAre("ClusterRole a"));
  ASSERT_EQ(world.policy.cluster_roles.size(), 2u);
  EXPECT_EQ(world.policy.cluster_roles[0].name, "b");
  EXPECT_EQ(world.policy.cluster_roles[1].rules[0].verbs[0], "list");
  EXPECT_EQ(world.aggregation["a"].labels["k"], "last");
  EXPECT_EQ(world.policy.role_bindings.size(), 2u);
}

TEST(FindUser, AcceptsEachFormOfAName) {
  const struct {
    const char* name;
    const char* user;
    const char* title;
  } kCases[] = {
      {"a", "system:serviceaccount:mandate-system:mandate-manager-a", "a"},
      {"base", "system:serviceaccount:mandate-system:mandate-manager", "base"},
      {"mandate-system/mandate-manager-a", "system:serviceaccount:mandate-system:mandate-manager-a",
       "a"},
      {"system:serviceaccount:shop:web", "system:serviceaccount:shop:web", "shop/web"},
      {"shop/web", "system:serviceaccount:shop:web", "shop/web"},
      {"jane", "jane", "jane"},
      {"https://issuer/a#jane", "https://issuer/a#jane", "https://issuer/a#jane"},
      {"system:anonymous", "system:anonymous", "system:anonymous"},
  };
  const World world = Example();
  for (const auto& c : kCases) {
    const auto user = FindUser(world, c.name, {"more"});
    ASSERT_TRUE(user.ok()) << c.name << ": " << user.status();
    EXPECT_EQ(user->name, c.user) << c.name;
    EXPECT_THAT(user->groups, Contains("more")) << c.name;
    EXPECT_EQ(UserTitle(world, user->name), c.title) << c.name;
  }
  EXPECT_THAT(FindUser(world, "shop/web", {})->groups, Contains("system:serviceaccounts:shop"));
  EXPECT_THAT(FindUser(world, "jane", {})->groups, Contains("system:authenticated"));
  EXPECT_THAT(FindUser(world, "system:anonymous", {})->groups,
              ElementsAre("system:unauthenticated"));
  for (const char* none : {"Shop/web", "shop/", "/web", "shop/We_b"}) {
    EXPECT_TRUE(absl::IsNotFound(FindUser(world, none, {}).status())) << none;
  }
}

TEST(TreeWorld, HasTheObjectsOfTheChart) {
  const World world = Example();
  EXPECT_THAT(world.components, ElementsAre(Pair("a", testing::_), Pair("base", testing::_)));
  EXPECT_THAT(world.accounts, ElementsAre(Pair("mandate-system", "mandate-manager"),
                                          Pair("mandate-system", "mandate-manager-a")));
  ASSERT_EQ(world.later.size(), 1u);  // not bound yet
  EXPECT_EQ(world.later[0].component, "a");
  bool has_role = false;
  for (const auto& role : world.policy.roles) {
    has_role = has_role || (role.ns == "shop" && role.name == "mandate-manager-a");
  }
  EXPECT_TRUE(has_role);
}

TEST(TreeWorld, RulesWithoutAComponentBelongToTheManager) {
  const World world = TreeOf("// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n");
  EXPECT_THAT(world.components, Contains(Pair("manager", testing::_)));
}

TEST(Merge, AddsEverything) {
  World world = WorldOf(
      "kind: RoleBinding\napiVersion: rbac.authorization.k8s.io/v1\n"
      "metadata: {name: b, namespace: shop}\n"
      "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n"
      "subjects: [{kind: ServiceAccount, name: web}, {kind: User, name: jane}]\n");
  NoteSubjects(&world);
  EXPECT_THAT(world.accounts, ElementsAre(Pair("shop", "web")));
  const size_t bindings = world.policy.role_bindings.size();
  Merge(Example(), &world);
  EXPECT_EQ(world.policy.role_bindings.size(), bindings + Example().policy.role_bindings.size());
  EXPECT_EQ(world.later.size(), 1u);
  EXPECT_THAT(world.accounts, testing::SizeIs(3));
  EXPECT_THAT(world.components, testing::SizeIs(2));
}

}  // namespace
}  // namespace mandate::rbacgen
