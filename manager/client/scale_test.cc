#include "manager/client/scale.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(Scale, OmittedMembersAreEmpty) {
  const auto scale = ParseScale(R"({"kind":"Scale","metadata":{"name":"a"},"spec":{}})");
  ASSERT_TRUE(scale.ok()) << scale.status();
  EXPECT_EQ(scale->replicas, 0);
  EXPECT_EQ(scale->observed_replicas, 0);
  EXPECT_EQ(scale->resource_version, "");
  EXPECT_EQ(scale->selector, "");
}

TEST(Scale, OtherTextsAreErrors) {
  for (const char* text :
       {"", "[]", "5", R"({"kind":"Deployment"})", R"({"kind":"Scale","spec":{"replicas":"3"}})",
        R"({"kind":"Scale","spec":{"replicas":3000000000}})",
        R"({"kind":"Scale","status":{"replicas":1.5}})",
        R"({"kind":"Scale","metadata":{"resourceVersion":7}})",
        R"({"kind":"Scale","status":{"selector":{}}})"}) {
    EXPECT_EQ(ParseScale(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Scale, AClusterScopedObjectHasNoNamespace) {
  EXPECT_EQ(ScaleBody({"", "a"}, {.resource_version = "7", .replicas = 0}),
            R"({"apiVersion":"autoscaling/v1","kind":"Scale",)"
            R"("metadata":{"name":"a","resourceVersion":"7"},"spec":{"replicas":0}})");
}

}  // namespace
}  // namespace mandate
