#include "rbacgen/audit/suggestion.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(ReplaceArgument, KeepsTheRestOfTheMarker) {
  const struct {
    const char* marker;
    const char* argument;
    const char* want;
  } kCases[] = {
      {"// +kubebuilder:rbac:groups=a,resources=r,verbs=get;list", "verbs",
       "// +kubebuilder:rbac:groups=a,resources=r,verbs=x;y"},
      {"// +kubebuilder:rbac:verbs={get,list},groups=a,resources=r", "verbs",
       "// +kubebuilder:rbac:verbs=x;y,groups=a,resources=r"},
      {"// +kubebuilder:rbac:groups=a,resources=r;s,verbs=get", "resources",
       "// +kubebuilder:rbac:groups=a,resources=x;y,verbs=get"},
      {"// +mandate:rbac:justify=\"so, that\",groups=a,resources=r,verbs=get", "verbs",
       "// +mandate:rbac:justify=\"so, that\",groups=a,resources=r,verbs=x;y"},
      {"// no marker", "verbs", "// no marker"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReplaceArgument(c.marker, c.argument, {"x", "y"}), c.want);
}

}  // namespace
}  // namespace mandate::rbacgen
