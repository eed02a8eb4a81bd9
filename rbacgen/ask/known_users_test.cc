#include "rbacgen/ask/known_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rbacgen/world/builtin_policy.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

World Example() {
  World world = TreeOf(
      "// +mandate:component:name=scope\n"
      "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get,namespace=shop\n");
  Merge(WorldOf("kind: RoleBinding\napiVersion: rbac.authorization.k8s.io/v1\n"
                "metadata: {name: b, namespace: shop}\n"
                "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n"
                "subjects: [{kind: ServiceAccount, name: web}, {kind: User, name: jane},\n"
                "  {kind: Group, name: devs}, {kind: User, name: 'user:odd'}]\n"),
        &world);
  AddBuiltinPolicy(&world);
  return world;
}

TEST(CheckKnown, AcceptsOnlyUsersOfTheInput) {
  const World world = Example();
  for (const char* name :
       {"scope", "base", "mandate-system/mandate-manager-scope", "shop/web", "jane", "user:odd",
        "system:serviceaccount:shop:web", "kube-system/replicaset-controller",
        "system:kube-scheduler", "system:kube-controller-manager", "system:anonymous", "user:eve",
        "user:system:node:n1", "user:system:serviceaccount:n:x"}) {
    EXPECT_TRUE(CheckKnown(world, name, {}).ok()) << name << CheckKnown(world, name, {});
  }
  const struct {
    const char* name;
    const char* want;
  } kUnknown[] = {
      {"scop",
       "scop is not a component, a ServiceAccount or a user of the input (did you mean scope?); "
       "write user:scop to ask about a user that the input does not have"},
      {"eve", "eve is not a component, a ServiceAccount or a user of the input; write user:eve"},
      {"shop/wbe", "write user:system:serviceaccount:shop:wbe"},
      {"system:kube-schedular", "write user:system:kube-schedular"},
      {"devs", "write user:devs"},
      {"system:node:n1", "the API server's Node authorizer allows it more than RBAC does"},
  };
  for (const auto& c : kUnknown) {
    const absl::Status status = CheckKnown(world, c.name, {});
    EXPECT_TRUE(absl::IsNotFound(status)) << c.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.want));
  }
}

// A component that --identity names: its ServiceAccount need not be in the input.
TEST(CheckKnown, KnowsAComponentWithoutABinding) {
  World world = Example();
  world.components["late"] = {"shop", "late"};
  for (const char* name : {"late", "shop/late", "system:serviceaccount:shop:late"}) {
    EXPECT_TRUE(CheckKnown(world, name, {}).ok()) << name;
  }
  EXPECT_TRUE(absl::IsNotFound(CheckKnown(world, "bank/late", {})));
  EXPECT_TRUE(absl::IsNotFound(CheckKnown(world, "shop/later", {})));
}

TEST(CheckKnown, KnowsTheGroupsOfBindings) {
  const World world = Example();
  for (const char* group :
       {"devs", "group:ops", "system:authenticated", "system:masters", "system:monitoring",
        "system:serviceaccounts", "system:serviceaccounts:shop"}) {
    EXPECT_TRUE(CheckKnown(world, "jane", {group}).ok()) << group;
  }
  for (const char* group : {"dev", "system:monitorin", "system:serviceaccounts:shpo"}) {
    const absl::Status status = CheckKnown(world, "jane", {"devs", group});
    EXPECT_TRUE(absl::IsNotFound(status)) << group;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string("write group:") + group));
  }
  EXPECT_FALSE(CheckKnown(world, "scop", {"devs"}).ok()) << "a group does not vouch for the user";
}

TEST(FindUser, UserPrefixNamesAUserLiterally) {
  const World world = Example();
  EXPECT_EQ(FindUser(world, "user:scope", {})->name, "scope");
  EXPECT_EQ(FindUser(world, "user:a/b", {})->name, "a/b");
  EXPECT_EQ(FindUser(world, "user:odd", {})->name, "user:odd") << "a subject is called so";
  EXPECT_TRUE(absl::IsNotFound(FindUser(world, "user:", {}).status()));
  EXPECT_TRUE(absl::IsNotFound(FindUser(world, "jane", {"group:"}).status()));
  const auto account = FindUser(world, "user:system:serviceaccount:n:x", {"group:ops", "devs"});
  EXPECT_THAT(account->groups, Contains("system:serviceaccounts:n"));
  EXPECT_THAT(account->groups, Contains("ops"));
  EXPECT_THAT(account->groups, Contains("devs"));
  EXPECT_THAT(FindUser(world, "user:system:anonymous", {})->groups,
              Not(Contains("system:authenticated")));
}

}  // namespace
}  // namespace mandate::rbacgen
