#include "rbacgen/emit/chart/fence_policy.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Fence Read(const std::string& arguments) {
  auto fence = ReadFence(arguments);
  EXPECT_TRUE(fence.ok()) << fence.status();
  return fence.ok() ? *fence : Fence();
}

auto Says(const std::string& words) { return Field(&FenceCheck::message, HasSubstr(words)); }

// hack/chart_test tests the expressions on an API server.
TEST(FenceChecks, HasACheckForEachArgument) {
  EXPECT_THAT(FenceChecks(Read("groups=g,resources=r,label=\"a.io/l=v\""), "c", "mm"),
              ElementsAre(Field(&FenceCheck::expression,
                                "variables.objects.all(o, \"a.io/l\" in "
                                "o.metadata.?labels.orValue({}) && o.metadata.labels[\"a.io/l\"] "
                                "== \"v\")"),
                          Says("take an object away"), Says("never add finalizers")));
  EXPECT_THAT(FenceChecks(Read("groups=g,resources=r,owner=core/ConfigMap"), "c", "mm"),
              Contains(Field(&FenceCheck::expression,
                             HasSubstr("r.kind == \"ConfigMap\" && r.apiVersion == \"v1\""))));
  EXPECT_THAT(FenceChecks(Read("groups=rbac.authorization.k8s.io,resources=rolebindings,label=l,"
                               "names=a,neverLabels=b,roleRefs=Role/c,neverSubject=self"),
                          "c", "mm"),
              SizeIs(5 + 2));
  EXPECT_THAT(FenceChecks(Read("groups=rbac.authorization.k8s.io,resources=rolebindings,"
                               "neverSubject=self;manager;anonymous"),
                          "the-component", "mm"),
              ElementsAre(Says("component the-component may never bind a role to the manager's "
                               "own ServiceAccounts"),
                          Says("itself or base"), Says("anonymous users"), _, _));
}

TEST(FenceChecks, ChecksOnlyLabelsAndFinalizersThatAWriteAdds) {
  EXPECT_THAT(
      FenceChecks(Read("groups=g,resources=r,labels=a.io/*,neverLabels=b,finalizers=c.io/*"), "c",
                  "mm"),
      ElementsAre(
          Field(&FenceCheck::expression, "variables.newLabels.all(k, k.startsWith(\"a.io/\"))"),
          Field(&FenceCheck::expression, "!variables.newLabels.exists(k, k == \"b\")"), _,
          Field(&FenceCheck::expression,
                "variables.newFinalizers.all(f, f.startsWith(\"c.io/\"))")));
}

TEST(FenceChecks, LimitsTheFieldsOfAnUpdate) {
  EXPECT_THAT(FenceChecks(Read("groups=g,resources=r,fields=a[*].b;c"), "c", "mm"),
              ElementsAre(AllOf(Says("component c may only change the fields a[*].b, c"),
                                Field(&FenceCheck::expression,
                                      testing::StartsWith("request.operation != \"UPDATE\" || ("))),
                          _, _));
}

TEST(FenceChecks, ForbidsAggregationRulesInClusterRoles) {
  const auto aggregation = Contains(Says("may never set an aggregationRule"));
  const std::string rbac = "groups=rbac.authorization.k8s.io,label=l,resources=";
  EXPECT_THAT(FenceChecks(Read(rbac + "roles;clusterroles"), "c", "mm"), aggregation);
  EXPECT_THAT(FenceChecks(Read("groups=*,label=l,resources=*"), "c", "mm"), aggregation);
  EXPECT_THAT(FenceChecks(Read(rbac + "roles"), "c", "mm"), Not(aggregation));
  EXPECT_THAT(FenceChecks(Read("groups=g,label=l,resources=clusterroles"), "c", "mm"),
              Not(aggregation));
}

TEST(GuardChecks, ProtectOwnersLabelsAndFinalizers) {
  const auto checks =
      GuardChecks(Read("groups=g,resources=r,owner=a.io/A,labels=a.io/*;b,guard=a.io/as"));
  EXPECT_THAT(checks,
              ElementsAre(Says("only a user that may update as/finalizers may change the owners"),
                          Says("labels of the pattern a.io/*, b"), Says("add finalizers to it")));
  for (const FenceCheck& check : checks) {
    EXPECT_THAT(check.expression,
                HasSubstr(" || authorizer.group(\"a.io\").resource(\"as\")."
                          "subresource(\"finalizers\").check(\"update\").allowed()"));
  }
  EXPECT_THAT(GuardChecks(Read("groups=g,resources=r,label=l,guard=a.io/as")),
              ElementsAre(Says("owners"), Says("finalizers to it")));
  // Patterns that only exclude names do not reserve any.
  EXPECT_THAT(GuardChecks(Read("groups=g,resources=r,label=l,names=!x,guard=a.io/as")),
              ElementsAre(Says("owners"), Says("finalizers to it")));
  const auto reserved =
      GuardChecks(Read("groups=g,resources=r,label=l,names=a:*;!a:b,guard=a.io/as"));
  EXPECT_THAT(reserved, ElementsAre(Says("create objects with names of the pattern a:*, !a:b"),
                                    Says("owners"), Says("finalizers to it")));
  EXPECT_THAT(reserved[0].expression,
              testing::StartsWith("(request.operation != \"CREATE\") || auth"));
  EXPECT_THAT(reserved[1].expression, testing::StartsWith("(request.operation == \"CREATE\" || "));
  EXPECT_THAT(reserved[2].expression, testing::StartsWith("(request.operation == \"CREATE\" || "));
}

// The policies and bindings of the component "a" with this fence; the guard's come first.
std::vector<Yaml> PoliciesOf(const std::string& fence, const ChartSettings& settings = {},
                             const std::string& base = "mm") {
  const ChartNames names = {.base = base};
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "a", base + "-a", &objects);
  AddGuardPolicy(maker, Read(fence));
  AddFencePolicy(maker, Read(fence));
  return objects;
}

TEST(AddGuardPolicy, AppliesToObjectsOfTheComponent) {
  const auto objects = PoliciesOf("groups=g,resources=r,label=l,guard=a.io/as,id=x");
  ASSERT_THAT(objects, SizeIs(4));
  EXPECT_EQ(objects[0]["metadata"]["name"].text(), "mm-a-x-guard");
  EXPECT_EQ(objects[2]["metadata"]["name"].text(), "mm-a-x");
  const std::string spec = objects[0]["spec"].Write();
  EXPECT_THAT(spec, HasSubstr("[oldObject].all(o, \"l\" in o.metadata.?labels.orValue({}))"));
  EXPECT_THAT(spec, HasSubstr("operations:\n    - UPDATE\n    resources:\n    - r\n"));
  EXPECT_THAT(spec, Not(HasSubstr("userInfo.username.matches")));
}

TEST(AddGuardPolicy, AppliesToCreatesOfReservedNames) {
  const auto objects =
      PoliciesOf("groups=g,resources=r,label=l,names=$(BASE_NAME):*,guard=a.io/as");
  ASSERT_THAT(objects, SizeIs(4));
  EXPECT_EQ(objects[0]["metadata"]["name"].text(), "mm-a-r-guard");
  const std::string spec = objects[0]["spec"].Write();
  EXPECT_THAT(spec, HasSubstr("request.operation == \"CREATE\" ? "
                              "(object.metadata.name.startsWith(\"mm:\"))\n    : "
                              "[oldObject].all(o, \"l\" in o.metadata.?labels.orValue({}))"));
  EXPECT_THAT(spec,
              HasSubstr("operations:\n    - CREATE\n    - UPDATE\n    resources:\n    - r\n"));
}

TEST(AddFencePolicy, AppliesOnlyToTheComponent) {
  ChartSettings settings;
  settings.ns = "sys";
  const auto objects = PoliciesOf("groups=g,resources=r/status;*,verbs=create,label=l", settings);
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0]["metadata"]["name"].text(), "mm-a-r-status-all");
  const std::string plain = objects[0]["spec"].Write();
  EXPECT_THAT(plain, HasSubstr("failurePolicy: Fail\n"));
  EXPECT_THAT(plain, HasSubstr("request.userInfo.username.matches(\"^system:serviceaccount:"
                               "[^:]+:(.+-)?(mm-a)(-.+)?$\")"));
  EXPECT_THAT(plain, HasSubstr("operations:\n    - CREATE\n    resources:"));
  // The policy checks both objects, because an update must not take over an object of another
  // owner.
  EXPECT_THAT(plain, HasSubstr("? [oldObject] : [object, oldObject]"));
  EXPECT_EQ(objects[1]["spec"].Write(),
            "policyName: mm-a-r-status-all\nvalidationActions:\n- Deny\n- Audit\n");
}

TEST(AddFencePolicy, ComponentsMayBeBoundIfScopeInstancesGrantToThem) {
  for (const char* external : {"role", "scopetemplate"}) {
    ChartSettings settings;
    settings.external = external;
    const auto objects = PoliciesOf(
        "groups=rbac.authorization.k8s.io,resources=rolebindings,neverSubject=manager", settings);
    const std::string spec = objects[0]["spec"].Write();
    const bool components = spec.find("the manager's own ServiceAccounts") != spec.npos;
    const bool base = spec.find("itself or base") != spec.npos;
    EXPECT_EQ(components, external == std::string("role"));
    EXPECT_EQ(base, external == std::string("scopetemplate"));
  }
}

TEST(AddFencePolicy, ReplacesBaseNameInPatterns) {
  const auto objects = PoliciesOf(
      "groups=rbac.authorization.k8s.io,resources=rolebindings,"
      "names=!$(BASE_NAME)*,roleRefs=ClusterRole/$(BASE_NAME)-*",
      {}, "acme");
  const std::string spec = objects[0]["spec"].Write();
  EXPECT_THAT(spec, HasSubstr("!(object.metadata.name.startsWith(\"acme\"))"));
  EXPECT_THAT(spec, HasSubstr("object.roleRef.name.startsWith(\"acme-\")"));
  EXPECT_THAT(spec, HasSubstr("of the pattern !acme*"));
}

TEST(AddFencePolicy, IncludesSubresources) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"r", "- r\n    - r/*\n"},
      {"r;r/status", "- r\n    - r/*\n"},
      {"r/status", "- r/status\n"},
      {"*", "- '*/*'\n"},
  };
  for (const auto& [resources, want] : cases) {
    SCOPED_TRACE(resources);
    const auto objects = PoliciesOf("groups=g,label=l,resources=" + resources);
    EXPECT_THAT(objects[0]["spec"].Write(), HasSubstr("resources:\n    " + want));
  }
}

}  // namespace
}  // namespace mandate::rbacgen
