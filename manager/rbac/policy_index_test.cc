#include "manager/rbac/policy_index.h"

#include <gtest/gtest.h>

namespace mandate::rbac {
namespace {

using Strings = std::vector<std::string>;

Rule Of(std::string verb) {
  Rule rule;
  rule.verbs = {std::move(verb)};
  return rule;
}

class PolicyIndexTest : public testing::Test {
 protected:
  // The names of the visited bindings; the visit ends after `last`.
  Strings ClusterRoleBindings(std::string_view last = "") const {
    Strings names;
    index_.VisitClusterRoleBindings([&](const ClusterRoleBinding& binding) {
      names.push_back(binding.name);
      return binding.name != last;
    });
    return names;
  }
  Strings RoleBindings(std::string_view ns, std::string_view last = "") const {
    Strings names;
    index_.VisitRoleBindings(ns, [&](const RoleBinding& binding) {
      EXPECT_EQ(binding.ns, ns);
      names.push_back(binding.name);
      return binding.name != last;
    });
    return names;
  }

  const PolicyIndex index_{
      {.roles = {{"a", "x", {Of("get")}}, {"b", "x", {Of("list")}}, {"a", "x", {Of("watch")}}},
       .cluster_roles = {{"x", {Of("patch")}}, {"x", {Of("create")}}},
       .role_bindings = {{"b", "1", {}, {}}, {"a", "2", {}, {}}, {"b", "3", {}, {}}},
       .cluster_role_bindings = {{"4", {}, {}}, {"5", {}, {}}, {"6", {}, {}}}}};
};

TEST_F(PolicyIndexTest, OfTwoRolesWithTheSameNameTheFirstCounts) {
  ASSERT_NE(index_.RulesOfRole("a", "x"), nullptr);
  EXPECT_EQ(index_.RulesOfRole("a", "x")->front(), Of("get"));
  EXPECT_EQ(index_.RulesOfRole("b", "x")->front(), Of("list"));
  EXPECT_EQ(index_.RulesOfClusterRole("x")->front(), Of("patch"));
  EXPECT_EQ(index_.RulesOfRole("a", "y"), nullptr);
  EXPECT_EQ(index_.RulesOfRole("", "x"), nullptr);
  EXPECT_EQ(index_.RulesOfClusterRole("y"), nullptr);
}

TEST_F(PolicyIndexTest, VisitsUntilToldToStop) {
  EXPECT_EQ(ClusterRoleBindings(), (Strings{"4", "5", "6"}));
  EXPECT_EQ(ClusterRoleBindings("5"), (Strings{"4", "5"}));
  EXPECT_EQ(RoleBindings("b"), (Strings{"1", "3"}));
  EXPECT_EQ(RoleBindings("b", "1"), (Strings{"1"}));
  EXPECT_EQ(RoleBindings("a"), (Strings{"2"}));
  EXPECT_EQ(RoleBindings("c"), (Strings{}));
  EXPECT_EQ(RoleBindings(""), (Strings{}));
}

TEST_F(PolicyIndexTest, NamespacesThatHaveBindings) {
  EXPECT_EQ(index_.BindingNamespaces(), (Strings{"a", "b"}));
}

}  // namespace
}  // namespace mandate::rbac
