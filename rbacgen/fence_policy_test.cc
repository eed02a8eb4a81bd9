#include "rbacgen/fence_policy.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PatternsCel, AsTheWordsSay) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"a"}, "x == \"a\""},
      {{"a*"}, "x.startsWith(\"a\")"},
      {{"*a"}, "x.endsWith(\"a\")"},
      {{"*"}, "true"},
      {{"a*b.c"}, "x.matches(\"^a.*b\\\\.c$\")"},
      {{"a", "b*"}, "(x == \"a\" || x.startsWith(\"b\"))"},
      {{"!a"}, "!(x == \"a\")"},
      {{"!a", "b*", "!*c"}, "x.startsWith(\"b\") && !(x == \"a\" || x.endsWith(\"c\"))"},
      {{"a\"\\"}, "x == \"a\\\"\\\\\""},
  };
  for (const auto& [patterns, want] : cases) EXPECT_EQ(PatternsCel(patterns, "x"), want);
}

Fence Read(const std::string& arguments) {
  auto fence = ReadFence(arguments);
  EXPECT_TRUE(fence.ok()) << fence.status();
  return fence.ok() ? *fence : Fence();
}

// hack/chart_test has the API server evaluate them.
TEST(FenceChecks, OneForEachThingThatIsSaid) {
  EXPECT_THAT(FenceChecks(Read("groups=g,resources=r,label=\"a.io/l=v\""), "c"),
              ElementsAre(Field(&FenceCheck::expression,
                                "variables.objects.all(o, \"a.io/l\" in "
                                "o.metadata.?labels.orValue({}) && o.metadata.labels[\"a.io/l\"] "
                                "== \"v\")")));
  EXPECT_THAT(FenceChecks(Read("groups=g,resources=r,owner=core/ConfigMap"), "c"),
              ElementsAre(Field(&FenceCheck::expression,
                                HasSubstr("r.kind == \"ConfigMap\" && r.apiVersion == \"v1\""))));
  EXPECT_THAT(FenceChecks(Read("groups=rbac.authorization.k8s.io,resources=rolebindings,label=l,"
                               "names=a,neverLabels=b,roleRefs=Role/c,neverSubject=self"),
                          "c"),
              SizeIs(5));
  EXPECT_THAT(FenceChecks(Read("groups=rbac.authorization.k8s.io,resources=rolebindings,"
                               "neverSubject=self;manager"),
                          "the-component"),
              ElementsAre(Field(&FenceCheck::message,
                                "component the-component may never bind a role to the manager's "
                                "own ServiceAccounts")));
}

TEST(AddFencePolicy, IsOfTheComponentAlone) {
  const ChartNames names = {.base = "mm"};
  ChartSettings settings;
  settings.ns = "sys";
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "a", "mm-a", &objects);
  AddFencePolicy(maker, Read("groups=g,resources=r/status;*,verbs=create,label=l"));
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0]["metadata"]["name"].text(), "mm-a-r-status-all");
  const std::string plain = objects[0]["spec"].Write();
  EXPECT_THAT(plain, HasSubstr("failurePolicy: Fail\n"));
  EXPECT_THAT(plain, HasSubstr("request.userInfo.username == \"system:serviceaccount:sys:mm-a\""));
  EXPECT_THAT(plain, HasSubstr("operations:\n    - CREATE\n    resources:"));
  EXPECT_THAT(objects[0]["spec"].Write(Yaml::Flavor::kHelm),
              HasSubstr("expression: 'request.userInfo.username == "
                        "\"system:serviceaccount:{{ .Release.Namespace }}:mm-a\"'\n"));
  // An update must leave what was there to those whose it was: both objects are looked at.
  EXPECT_THAT(plain, HasSubstr("? [oldObject] : [object, oldObject]"));
  EXPECT_EQ(objects[1]["spec"].Write(),
            "policyName: mm-a-r-status-all\nvalidationActions:\n- Deny\n- Audit\n");
}

}  // namespace
}  // namespace mandate::rbacgen
