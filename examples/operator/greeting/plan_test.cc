#include "greeting/plan.h"

#include <gtest/gtest.h>

namespace example {
namespace {

using mandate::corev1::ConfigMap;

v1alpha1::Greeting Ann() {
  v1alpha1::Greeting greeting;
  greeting.mutable_metadata()->set_namespace_("default");
  greeting.mutable_metadata()->set_name("ann");
  greeting.mutable_metadata()->set_uid("uid-of-ann");
  greeting.mutable_spec()->set_name("Ann");
  return greeting;
}

TEST(PlanTest, WritesAMissingConfigMap) {
  const Plan plan = MakePlan(Ann(), std::nullopt);
  ASSERT_TRUE(plan.write.has_value());
  EXPECT_EQ(plan.write->metadata().name(), "ann");
  EXPECT_EQ(plan.write->metadata().ownerreferences(0).uid(), "uid-of-ann");
  EXPECT_EQ(plan.write->data().at(kMessageKey), "Hello, Ann!");
}

TEST(PlanTest, NeverChangesAForeignConfigMap) {
  std::optional<ConfigMap> actual = MakePlan(Ann(), std::nullopt).write;
  actual->mutable_metadata()->clear_ownerreferences();
  const Plan plan = MakePlan(Ann(), actual);
  EXPECT_FALSE(plan.write.has_value());
  EXPECT_NE(plan.problem, "");
}

}  // namespace
}  // namespace example
