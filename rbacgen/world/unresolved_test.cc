#include "rbacgen/world/unresolved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mandate::rbacgen {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::vector<rbac::Subject> Ann() {
  rbac::Subject ann;
  ann.kind = "User";
  ann.name = "ann";
  return {ann};
}

World With(const std::string& role, std::vector<rbac::Subject> subjects) {
  World world;
  rbac::ClusterRoleBinding binding;
  binding.name = "b";
  binding.role_ref = {.kind = "ClusterRole", .name = role};
  binding.subjects = std::move(subjects);
  world.policy.cluster_role_bindings.push_back(std::move(binding));
  return world;
}

TEST(UnresolvedBindings, AreBindingsWithMissingRoles) {
  World world = With("r", Ann());
  const auto unresolved = UnresolvedBindings(world);
  ASSERT_THAT(unresolved, SizeIs(1));
  EXPECT_EQ(unresolved[0].ToString(),
            "ClusterRoleBinding b of User ann refers to ClusterRole r, which the input does not "
            "have: its permissions are unknown");
  rbac::ClusterRole role;
  role.name = "r";
  world.policy.cluster_roles.push_back(role);
  EXPECT_THAT(UnresolvedBindings(world), IsEmpty());
  EXPECT_THAT(UnresolvedBindings(With("r", {})), IsEmpty()) << "nobody is bound";
}

TEST(UnresolvedBindings, IncludeRoleBindings) {
  World world;
  rbac::RoleBinding binding;
  binding.ns = "n";
  binding.name = "b";
  binding.role_ref = {.kind = "Role", .name = "r"};
  binding.subjects = Ann();
  world.policy.role_bindings.push_back(binding);
  rbac::Role other;
  other.ns = "m";
  other.name = "r";
  world.policy.roles.push_back(other);
  const auto unresolved = UnresolvedBindings(world);
  ASSERT_THAT(unresolved, SizeIs(1));
  EXPECT_EQ(unresolved[0].ToString().substr(0, 46),
            "RoleBinding n/b of User ann refers to Role r, ");
  world.is_whole = true;
  EXPECT_THAT(UnresolvedBindings(world), IsEmpty()) << "a cluster that has no such role";
}

}  // namespace
}  // namespace mandate::rbacgen
