#include "rbacgen/emit/chart/impersonation.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::Not;

rbac::Rule R(std::vector<std::string> verbs) {
  return {
      .verbs = std::move(verbs), .api_groups = {"g"}, .resources = {"r"}, .resource_names = {"n"}};
}

std::string Objects(const std::string& mode, const std::string& impersonation,
                    bool external = false) {
  const ChartNames names = {.base = "mm"};
  ChartSettings settings;
  settings.identity_mode = mode;
  settings.impersonation = impersonation;
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "a", "mm-a", &objects);
  AddImpersonation(
      maker,
      {.name = "a",
       .grants = {
           {.ns = "other", .external = external, .rules = {R({"get"})}, .justifications = {}}}});
  return WriteDocuments(objects, Yaml::Flavor::kPlain);
}

TEST(AddImpersonation, GrantsBaseWhatTheModeNeeds) {
  EXPECT_EQ(Objects("token", "constrained"), "");
  const std::string classic = Objects("impersonate", "classic");
  EXPECT_THAT(classic, HasSubstr("  verbs:\n  - impersonate\n"));
  EXPECT_THAT(classic, HasSubstr("  resourceNames:\n  - mm-a\n"));
  EXPECT_THAT(classic, Not(HasSubstr("kind: ClusterRole")));
  const std::string constrained = Objects("impersonate", "constrained");
  EXPECT_THAT(constrained, Not(HasSubstr("  - impersonate\n")));
  EXPECT_THAT(constrained, HasSubstr("  - impersonate:serviceaccount\n"));
  EXPECT_THAT(constrained, HasSubstr("  - impersonate-on:serviceaccount:get\n"));
  EXPECT_THAT(constrained, HasSubstr("  namespace: other\n"));
}

TEST(AddImpersonation, WhatIsGrantedExternallyMayBeGrantedAnywhere) {
  const std::string text = Objects("impersonate", "constrained", /*external=*/true);
  EXPECT_THAT(text, Not(HasSubstr("  namespace: other\n")));
  EXPECT_THAT(text, HasSubstr("  resourceNames:\n  - \"n\"\n"));
}

}  // namespace
}  // namespace mandate::rbacgen
