#include "rbacgen/markers/mandates.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Sources Read(std::string_view text) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", text, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return sources;
}

TEST(BuildMandates, EveryComponentMayRecordEvents) {
  const auto mandates = BuildMandates(Read("// +mandate:component:name=a\n"));
  ASSERT_THAT(mandates, SizeIs(1));
  ASSERT_THAT(mandates[0].grants, SizeIs(1));
  ASSERT_THAT(mandates[0].grants[0].rules, SizeIs(1));
  const rbac::Rule& events = mandates[0].grants[0].rules[0];
  EXPECT_THAT(events.api_groups, ElementsAre("events.k8s.io"));
  EXPECT_THAT(events.resources, ElementsAre("events"));
  EXPECT_THAT(events.verbs, ElementsAre("create", "patch"));
}

TEST(BuildMandates, EventsAreGrantedInTheNamespacesOfTheRules) {
  const std::string rule = "// +kubebuilder:rbac:groups=g,resources=r,verbs=get";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"// +mandate:component:name=a\n" + rule + ",namespace=m\n" + rule + ",namespace=n\n",
       {"m", "n"}},
      {"// +mandate:component:name=a\n" + rule + "\n" + rule + ",namespace=n\n", {""}},
      // An administrator may grant the external rule in all namespaces.
      {"// +mandate:component:name=a\n" + rule + ",namespace=n\n" +
           "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get\n",
       {""}},
      {"// +mandate:component:name=a,events=none\n" + rule + "\n", {}},
      // If a component has several files, a marker in one of them is enough.
      {"// +mandate:component:name=a,events=none\n// +mandate:component:name=a\n" + rule + "\n",
       {}},
  };
  for (const auto& [text, want] : cases) {
    SCOPED_TRACE(text);
    const Sources sources = Read(text);
    EXPECT_EQ(EventNamespaces(sources, "a"), want);
    std::vector<std::string> granted;
    const auto mandates = BuildMandates(sources);
    for (const Grant& grant : mandates[0].grants) {
      for (const rbac::Rule& r : grant.rules) {
        if (r == EventsRule()) granted.push_back(grant.ns);
      }
    }
    EXPECT_EQ(granted, want);
  }
}

TEST(BuildMandates, OwnEventsUnlessAMarkerGrantsMore) {
  const std::string a = "// +mandate:component:name=a\n// +kubebuilder:rbac:";
  const std::vector<std::pair<std::string, bool>> cases = {
      {"groups=core,resources=events,verbs=get;list;watch", true},
      {"groups=apps,resources=*,verbs=*", true},
      {"groups=core,resources=events,verbs=create", false},
      {"groups=events.k8s.io,resources=events,verbs=patch", false},
      {"groups=*,resources=*,verbs=*", false},
  };
  for (const auto& [rule, want] : cases) {
    EXPECT_EQ(BuildMandates(Read(a + rule + "\n"))[0].own_events, want) << rule;
  }
  EXPECT_FALSE(BuildMandates(Read("// +mandate:component:name=a,events=none\n"))[0].own_events);
}

TEST(BuildMandates, SeparatesGrantsByNamespaceAndExternal) {
  const auto mandates =
      BuildMandates(Read("// +mandate:component:name=b\n"
                         "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get\n"
                         "// +kubebuilder:rbac:groups=g,resources=y,verbs=get,namespace=n\n"
                         "// +mandate:component:name=a\n"
                         "// +mandate:component:name=b\n"
                         "// +kubebuilder:rbac:groups=g,resources=z,verbs=get,namespace=n\n"));
  ASSERT_THAT(mandates, SizeIs(2));
  EXPECT_EQ(mandates[0].name, "a");
  ASSERT_THAT(mandates[1].grants, SizeIs(3));
  EXPECT_EQ(mandates[1].grants[0].ns, "");
  EXPECT_EQ(mandates[1].grants[1].ns, "n");
  EXPECT_THAT(mandates[1].grants[1].rules, SizeIs(1));
  EXPECT_THAT(mandates[1].grants[1].rules[0].resources, ElementsAre("y", "z"));
  EXPECT_TRUE(mandates[1].grants[2].external);
  EXPECT_THAT(mandates[1].grants[2].rules[0].resources, ElementsAre("x"));
}

TEST(BuildMandates, KeepsEachReasonOnce) {
  const auto mandates =
      BuildMandates(Read("// +mandate:component:name=a\n"
                         "// +mandate:rbac:justify=b,groups=g,resources=r,verbs=bind;escalate\n"
                         "// +mandate:rbac:justify=b,groups=g,resources=r,verbs=bind;escalate\n"
                         "// +mandate:rbac:justify=a,urls=/x,verbs=get\n"));
  EXPECT_THAT(mandates[0].grants[0].justifications,
              ElementsAre("bind, escalate of r: b", "get of /x: a"));
}

TEST(BuildBaseMandate, GrantsTheComponentsTokensAndTheLease) {
  const auto mandates =
      BuildMandates(Read("// +mandate:component:name=b\n// +mandate:component:name=a\n"));
  const ComponentMandate base = BuildBaseMandate(mandates, "mm", "ns");
  EXPECT_EQ(base.name, "base");
  ASSERT_THAT(base.grants, SizeIs(1));
  EXPECT_EQ(base.grants[0].ns, "ns");
  ASSERT_THAT(base.grants[0].rules, SizeIs(2));
  EXPECT_THAT(base.grants[0].rules[0].resources, ElementsAre("serviceaccounts/token"));
  EXPECT_THAT(base.grants[0].rules[0].verbs, ElementsAre("create"));
  EXPECT_THAT(base.grants[0].rules[0].resource_names, ElementsAre("mm-a", "mm-b"));
  EXPECT_THAT(base.grants[0].rules[1].resources, ElementsAre("leases"));
  EXPECT_THAT(base.grants[0].rules[1].verbs, ElementsAre("create", "get", "patch", "update"));
  EXPECT_THAT(base.grants[0].rules[1].resource_names, ElementsAre("mm"));
}

// A rule without resourceNames would mint every token.
TEST(BuildBaseMandate, GrantsNoTokensWithoutComponents) {
  const ComponentMandate base = BuildBaseMandate({}, "mm", "");
  ASSERT_THAT(base.grants[0].rules, SizeIs(1));
  EXPECT_THAT(base.grants[0].rules[0].resources, ElementsAre("leases"));
}

}  // namespace
}  // namespace mandate::rbacgen
