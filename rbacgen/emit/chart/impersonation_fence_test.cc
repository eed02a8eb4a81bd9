#include "rbacgen/emit/chart/impersonation_fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ComponentMandate Component(const std::string& name, std::vector<rbac::Rule> rules) {
  return {
      .name = name,
      .grants = {{.ns = "", .external = false, .rules = std::move(rules), .justifications = {}}}};
}

rbac::Rule Rule(std::vector<std::string> verbs, std::string group,
                std::vector<std::string> resources) {
  return {.verbs = std::move(verbs),
          .api_groups = {std::move(group)},
          .resources = std::move(resources)};
}

// The spec of the first component's policy; "" if it has no policy.
std::string Spec(const std::vector<ComponentMandate>& all, const std::string& mode = "impersonate",
                 const std::string& impersonation = "constrained") {
  ChartSettings settings;
  settings.identity_mode = mode;
  settings.impersonation = impersonation;
  const ChartNames names = {.base = "mm"};
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "a", "mm-a", &objects);
  AddImpersonationFence(maker, all.at(0), all);
  if (objects.empty() || !objects[0].condition().plain) return "";
  EXPECT_EQ(objects[0]["metadata"]["name"].text(), "mm-a-impersonated");
  return objects[0]["spec"].Write();
}

const auto kA = Component("a", {Rule({"get", "create", "patch"}, "g", {"own", "own/status"}),
                                Rule({"delete"}, "g", {"both"})});

TEST(ImpersonationFence, DeniesWritesThatOnlyOthersDeclare) {
  const auto b = Component("b", {Rule({"create", "watch", "delete"}, "g", {"both", "foreign"}),
                                 Rule({"update"}, "h", {"x/status"})});
  EXPECT_THAT(
      Spec({kA, b}),
      AllOf(HasSubstr("- apiGroups:\n    - g\n    - h\n"),
            HasSubstr("operations:\n    - CREATE\n    - DELETE\n    - UPDATE\n"),
            HasSubstr("resources:\n    - both\n    - foreign\n    - x/status\n"),
            HasSubstr("(mm-a)(-.+)?$"), HasSubstr("no marker of component a declares this write")));
}

TEST(ImpersonationFence, AllowsItsOwnWrites) {
  const std::string spec = Spec({kA, Component("b", {Rule({"*"}, "*", {"*"})})});
  EXPECT_THAT(spec, AllOf(HasSubstr("- apiGroups:\n    - '*'\n"), HasSubstr("- '*/*'\n"),
                          HasSubstr("request.operation in [\"DELETE\"]"),
                          HasSubstr("request.operation in [\"CREATE\", \"UPDATE\"]"),
                          HasSubstr("== \"own/status\")")));
}

TEST(ImpersonationFence, ExistsOnlyIfBaseHasMoreRightsThanTheComponent) {
  EXPECT_THAT(Spec({kA, kA}), IsEmpty());
  EXPECT_THAT(Spec({kA, Component("b", {Rule({"get", "list"}, "g", {"foreign"})})}), IsEmpty());
  EXPECT_THAT(Spec({Component("a", {Rule({"*"}, "*", {"*"})}), kA}), IsEmpty());
  const auto b = Component("b", {Rule({"create"}, "g", {"foreign"})});
  EXPECT_THAT(Spec({kA, b}), Not(IsEmpty()));
  EXPECT_THAT(Spec({kA, b}, "token"), IsEmpty());
  EXPECT_THAT(Spec({kA, b}, "single"), IsEmpty());
  EXPECT_THAT(Spec({kA, b}, "impersonate", "classic"), IsEmpty());
  EXPECT_THAT(Spec({Component("a", {}), b}), HasSubstr("expression: \"false\""));
}

}  // namespace
}  // namespace mandate::rbacgen
