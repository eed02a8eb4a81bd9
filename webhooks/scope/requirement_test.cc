#include "webhooks/scope/requirement.h"

#include <gtest/gtest.h>

#include "manager/rbac/policy_proto.h"

namespace mandate::scope {
namespace {

RoleTemplate Role(const rbac::Rule& rule) {
  RoleTemplate role;
  role.generate_name = "a-";
  role.name = "scope-template:a-1";
  role.rules = {rbac::ToProto(rule), rbac::ToProto(rule)};
  return role;
}

TEST(ToBindRole, AsksForTheRoleByNameOrForEachOfItsRightsOnce) {
  const Requirement bind = ToBindRole(
      Role({.verbs = {"get", "list"}, .api_groups = {""}, .resources = {"pods"}}), "foo");
  EXPECT_EQ(bind.what, "to bind role \"a-\" in namespace \"foo\"");
  EXPECT_EQ(bind.shortcut.ns, "foo");
  EXPECT_EQ(bind.shortcut.rule.verbs, (std::vector<std::string>{"bind"}));
  EXPECT_EQ(bind.shortcut.rule.resource_names, (std::vector<std::string>{"scope-template:a-1"}));
  ASSERT_EQ(bind.rights.size(), 2u);
  for (const AccessQuestion& right : bind.rights) {
    EXPECT_EQ(right.ns, "foo");
    EXPECT_EQ(right.rule.resource_names, (std::vector<std::string>{std::string(kEveryName)}));
  }
  EXPECT_EQ(ToBindRole(Role({}), "").what, "to bind role \"a-\" in the whole cluster");
}

TEST(ToWriteRole, AsksInTheWholeCluster) {
  const Requirement write = ToWriteRole(
      Role({.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}, .resource_names = {"x"}}));
  EXPECT_EQ(write.shortcut.ns, "");
  EXPECT_EQ(write.shortcut.rule.verbs, (std::vector<std::string>{"escalate"}));
  EXPECT_TRUE(write.shortcut.rule.resource_names.empty());
  ASSERT_EQ(write.rights.size(), 1u);
  EXPECT_EQ(write.rights[0].rule.resource_names, (std::vector<std::string>{"x"}));
}

TEST(ToWriteRole, AsksForUrlsWithoutAName) {
  const Requirement write =
      ToWriteRole(Role({.verbs = {"get"}, .non_resource_urls = {"/metrics"}}));
  ASSERT_EQ(write.rights.size(), 1u);
  EXPECT_TRUE(write.rights[0].rule.resource_names.empty());
}

TEST(CountRights, CountsEachVerbWithEachObject) {
  const auto count = [](const rbac::Rule& rule) { return CountRights(Role(rule)) / 2; };
  EXPECT_EQ(count({.verbs = {"get", "list"},
                   .api_groups = {"", "apps"},
                   .resources = {"a", "b", "c"},
                   .resource_names = {"x", "y"}}),
            24u);
  EXPECT_GE(count({.verbs = {"get"}, .non_resource_urls = {"/a", "/b", "/c"}}), 3u);
  // 2^64 rights, and 2^32.
  const std::vector<std::string> many(size_t{1} << 16, "x");
  EXPECT_GT(count({.verbs = many, .api_groups = many, .resources = many, .resource_names = many}),
            1'000'000u);
  EXPECT_GT(count({.verbs = many, .api_groups = {""}, .resources = many}), 1'000'000u);
}

// A rule with the name "" would allow a review without a name, but not the binding of a role.
TEST(BindAll, IsAboutEveryName) {
  EXPECT_EQ(BindAll().ns, "");
  EXPECT_EQ(BindAll().rule.verbs, (std::vector<std::string>{"bind"}));
  EXPECT_EQ(BindAll().rule.resource_names, (std::vector<std::string>{std::string(kEveryName)}));
}

TEST(ToBindAnyRole, AcceptsOnlyTheRightToBindEveryRole) {
  const Requirement any = ToBindAnyRole("foo");
  EXPECT_TRUE(any.only_shortcut);
  EXPECT_TRUE(any.rights.empty());
  EXPECT_EQ(any.shortcut.rule.resource_names, (std::vector<std::string>{std::string(kEveryName)}));
}

}  // namespace
}  // namespace mandate::scope
