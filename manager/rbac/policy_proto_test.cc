#include "manager/rbac/policy_proto.h"

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

const Rule kRule{.verbs = {"get", "list"},
                 .api_groups = {"", "apps"},
                 .resources = {"pods/log"},
                 .resource_names = {"a", "b"},
                 .non_resource_urls = {"/metrics"}};
const RoleRef kRef{.api_group = kRbacGroup, .kind = "ClusterRole", .name = "viewer"};
const std::vector<Subject> kSubjects{
    {.kind = "User", .api_group = kRbacGroup, .name = "jane", .ns = ""},
    {.kind = "ServiceAccount", .api_group = "", .name = "builder", .ns = "ops"}};

TEST(PolicyProtoTest, EveryFieldHasItsPlace) {
  const v1::PolicyRule rule = ToProto(kRule);
  ASSERT_EQ(rule.verbs_size(), 2);
  EXPECT_EQ(rule.verbs(1), "list");
  ASSERT_EQ(rule.apigroups_size(), 2);
  EXPECT_EQ(rule.apigroups(1), "apps");
  ASSERT_EQ(rule.resources_size(), 1);
  EXPECT_EQ(rule.resources(0), "pods/log");
  ASSERT_EQ(rule.resourcenames_size(), 2);
  EXPECT_EQ(rule.resourcenames(1), "b");
  ASSERT_EQ(rule.nonresourceurls_size(), 1);
  EXPECT_EQ(rule.nonresourceurls(0), "/metrics");

  const v1::RoleBinding binding = ToProto(RoleBinding{"shop", "b", kRef, kSubjects});
  EXPECT_EQ(binding.metadata().namespace_(), "shop");
  EXPECT_EQ(binding.metadata().name(), "b");
  EXPECT_EQ(binding.roleref().apigroup(), "rbac.authorization.k8s.io");
  EXPECT_EQ(binding.roleref().kind(), "ClusterRole");
  EXPECT_EQ(binding.roleref().name(), "viewer");
  ASSERT_EQ(binding.subjects_size(), 2);
  EXPECT_EQ(binding.subjects(0).apigroup(), "rbac.authorization.k8s.io");
  EXPECT_FALSE(binding.subjects(0).has_namespace_());
  EXPECT_FALSE(binding.subjects(1).has_apigroup());
  EXPECT_EQ(binding.subjects(1).kind(), "ServiceAccount");
  EXPECT_EQ(binding.subjects(1).name(), "builder");
  EXPECT_EQ(binding.subjects(1).namespace_(), "ops");
}

TEST(PolicyProtoTest, ThereAndBack) {
  const Role role{"shop", "reader", {kRule, {}}};
  const ClusterRole cluster_role{"viewer", {kRule}};
  const RoleBinding binding{"shop", "b", kRef, kSubjects};
  const ClusterRoleBinding cluster_binding{"b", kRef, kSubjects};
  EXPECT_EQ(FromProto(ToProto(kRule)), kRule);
  EXPECT_EQ(FromProto(ToProto(role)), role);
  EXPECT_EQ(FromProto(ToProto(cluster_role)), cluster_role);
  EXPECT_EQ(FromProto(ToProto(binding)), binding);
  EXPECT_EQ(FromProto(ToProto(cluster_binding)), cluster_binding);
  EXPECT_EQ(FromProto(v1::ClusterRole()), ClusterRole());
}

TEST(PolicyProtoTest, ClusterScopedObjectsHaveNoNamespace) {
  EXPECT_FALSE(ToProto(ClusterRole{"viewer", {}}).metadata().has_namespace_());
  EXPECT_FALSE(ToProto(ClusterRoleBinding{"b", kRef, {}}).metadata().has_namespace_());
}

}  // namespace
}  // namespace mandate::rbac
