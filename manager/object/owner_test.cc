#include "manager/object/owner.h"

#include "gtest/gtest.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

TEST(OwnerTest, TheControllerIsOneOfTheOwners) {
  rbacv1::ClusterRole owner;
  owner.mutable_metadata()->set_name("o");
  owner.mutable_metadata()->set_uid("u");
  rbacv1::Role child;
  EXPECT_EQ(ControllerOf(child.metadata()), nullptr);
  EXPECT_FALSE(IsControlledBy(child.metadata(), "u"));
  child.mutable_metadata()->add_ownerreferences()->set_uid("another");  // not a controller
  EXPECT_FALSE(IsControlledBy(child.metadata(), "another"));
  SetControllerReference(owner, &child);
  const auto* reference = ControllerOf(child.metadata());
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(reference->apiversion(), "rbac.authorization.k8s.io/v1");
  EXPECT_EQ(reference->kind(), "ClusterRole");
  EXPECT_EQ(reference->name(), "o");
  EXPECT_EQ(reference->uid(), "u");
  EXPECT_TRUE(reference->blockownerdeletion());
  EXPECT_TRUE(IsControlledBy(child.metadata(), "u"));
  EXPECT_FALSE(IsControlledBy(child.metadata(), "v"));
}

// An object that was never stored has no dependents.
TEST(OwnerTest, NobodyHasAnEmptyUid) {
  rbacv1::Role child;
  SetControllerReference(rbacv1::ClusterRole(), &child);
  EXPECT_FALSE(IsControlledBy(child.metadata(), ""));
}

}  // namespace
}  // namespace mandate
