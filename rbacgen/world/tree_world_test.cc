#include "rbacgen/world/tree_world.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

Sources Read(std::string_view text) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", text, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return sources;
}

TEST(NameComponents, PlacesRulesInTheManagersNamespace) {
  const TreeOptions options{.ns = "sys", .base_name = "mm"};
  Sources sources = Read(
      "// +mandate:component:name=a,events=none\n"
      "// +mandate:rbac:groups=g,resources=r,verbs=get,namespace=$(NAMESPACE)\n");
  NameComponents(options, &sources);
  EXPECT_EQ(sources.declarations[0].ns, "sys");
  const World world = TreeWorld(sources, options);
  const auto is_its = [](const auto& role) { return role.ns == "sys" && role.name == "mm-a"; };
  EXPECT_THAT(world.policy.roles, testing::Contains(testing::Truly(is_its)));
}

}  // namespace
}  // namespace mandate::rbacgen
