#include "rbacgen/emit/roles.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(GroupByRole, GroupsByNamespaceThenName) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc",
                   "// +kubebuilder:rbac:groups=g,resources=a,verbs=get,namespace=n\n"
                   "// +kubebuilder:rbac:groups=g,resources=b,verbs=get,namespace=n,roleName=r\n"
                   "// +kubebuilder:rbac:groups=g,resources=c,verbs=get\n"
                   "// +kubebuilder:rbac:groups=core,resources=d,verbs=get;list,namespace=n\n",
                   Severity::kError, &sources, &diagnostics);
  ASSERT_EQ(diagnostics.Report(), "");
  const auto roles = GroupByRole(sources.declarations, "default");
  ASSERT_EQ(roles.size(), 3u);
  EXPECT_EQ(roles[0].ns + "/" + roles[0].name, "/default");
  EXPECT_EQ(roles[1].ns + "/" + roles[1].name, "n/default");
  EXPECT_EQ(roles[2].ns + "/" + roles[2].name, "n/r");
  EXPECT_EQ(RulesYaml(roles[1].rules).Write(),
            "- apiGroups:\n  - \"\"\n  resources:\n  - d\n  verbs:\n  - get\n  - list\n"
            "- apiGroups:\n  - g\n  resources:\n  - a\n  verbs:\n  - get\n");
  std::reverse(sources.declarations.begin(), sources.declarations.end());
  EXPECT_EQ(GroupByRole(sources.declarations, "default")[1].rules, roles[1].rules);
}

TEST(RulesYaml, OnlyVerbsAreWrittenWhenEmpty) {
  EXPECT_EQ(RulesYaml({rbac::Rule{}}).Write(), "- verbs: null\n");
}

}  // namespace
}  // namespace mandate::rbacgen
