#include "rbacgen/emit/chart/admission_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(AccountPattern, MatchesTheNameWithAnyPrefixAndSuffix) {
  const std::regex pattern(AccountPattern({"mm.x-a", "mm.x-b"}));
  for (const char* name :
       {"mm.x-a", "mm.x-b", "acme-mm.x-a", "a-b-mm.x-a", "mm.x-a-two", "acme-mm.x-a-two-1"}) {
    EXPECT_TRUE(std::regex_match(name, pattern)) << name;
  }
  for (const char* name : {"mmyx-a", "acmemm.x-a", "-mm.x-a", "mm.x-ab", "mm.x-a-", "mm.x", ""}) {
    EXPECT_FALSE(std::regex_match(name, pattern)) << name;
  }
}

TEST(IsAccountCel, ALongerNameIsNotASuffix) {
  const std::vector<std::string> accounts = {"mm-a", "mm-a-b", "mm-c"};
  const auto matches = [](const std::string& names) {
    return "request.userInfo.username.matches(\"^system:serviceaccount:[^:]+:(.+-)?(" + names +
           ")(-.+)?$\")";
  };
  EXPECT_EQ(IsAccountCel("mm-c", accounts), matches("mm-c"));
  EXPECT_EQ(IsAccountCel("mm-a", accounts), matches("mm-a") + " && !" + matches("mm-a-b"));
  EXPECT_EQ(IsAccountCel("mm", accounts), matches("mm") + " && !" + matches("mm-a|mm-a-b|mm-c"));
}

TEST(AddAdmissionPolicy, FailsClosed) {
  const ChartNames names = {.base = "mm"};
  const ChartSettings settings;
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "a", "mm-a", &objects);
  AddAdmissionPolicy(maker,
                     {.id = "x",
                      .matches = "is-it",
                      .condition = {},
                      .groups = {"g"},
                      .operations = {"CREATE"},
                      .resources = {"r"},
                      .variables = {},
                      .validations = Yaml::List{Validation("1 == 1", "why")}},
                     switches.Fences());
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0]["spec"].Write(),
            "failurePolicy: Fail\n"
            "matchConditions:\n"
            "- expression: request.userInfo.username.matches(\"^system:serviceaccount:[^:]+:"
            "(.+-)?(mm-a)(-.+)?$\")\n"
            "  name: is-it\n"
            "matchConstraints:\n  resourceRules:\n"
            "  - apiGroups:\n    - g\n    apiVersions:\n    - '*'\n"
            "    operations:\n    - CREATE\n    resources:\n    - r\n"
            "validations:\n- expression: 1 == 1\n  message: why\n  reason: Forbidden\n");
  EXPECT_EQ(objects[1]["metadata"]["name"].text(), "mm-a-x");
  EXPECT_THAT(objects[1]["spec"].Write(), HasSubstr("policyName: mm-a-x\n"));
  EXPECT_EQ(objects[0].condition().helm, switches.Fences().helm);
}

}  // namespace
}  // namespace mandate::rbacgen
