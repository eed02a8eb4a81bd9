#include "rbacgen/markers/declarations.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::SizeIs;

struct Result {
  Sources sources;
  Diagnostics diagnostics;
  std::string report;
};

Result Read(std::string_view text, const std::string& file = "a.cc",
            Severity misplaced = Severity::kError) {
  Result result;
  ReadDeclarations(file, text, misplaced, &result.sources, &result.diagnostics);
  result.report = result.diagnostics.Report();
  return result;
}

TEST(ReadDeclarations, ReadsEveryArgument) {
  const Result r = Read(
      "\n// +kubebuilder:rbac:groups=a;b,resources=r,resourceNames=n,verbs=get;list,namespace=ns,"
      "roleName=role\n//+kubebuilder:rbac:urls=/x,verbs=get\n");
  EXPECT_EQ(r.report, "");
  ASSERT_THAT(r.sources.declarations, SizeIs(2));
  const Declaration& d = r.sources.declarations[0];
  EXPECT_THAT(d.rule.api_groups, ElementsAre("a", "b"));
  EXPECT_THAT(d.rule.resources, ElementsAre("r"));
  EXPECT_THAT(d.rule.resource_names, ElementsAre("n"));
  EXPECT_THAT(d.rule.verbs, ElementsAre("get", "list"));
  EXPECT_EQ(d.ns, "ns");
  EXPECT_EQ(d.role_name, "role");
  EXPECT_EQ(d.component, "");
  EXPECT_FALSE(d.ours);
  EXPECT_EQ(d.place, (Place{"a.cc", 2}));
  EXPECT_THAT(r.sources.declarations[1].rule.non_resource_urls, ElementsAre("/x"));
}

TEST(ReadDeclarations, RulesBelongToTheComponentAbove) {
  const Result r = Read(
      "// +kubebuilder:rbac:urls=/0,verbs=get\n"
      "// +mandate:component:name=one\n"
      "// +kubebuilder:rbac:urls=/1,verbs=get\n"
      "// +mandate:component:name=two\n"
      "// +kubebuilder:rbac:urls=/2,verbs=get\n"
      "// +mandate:component:name=one\n"
      "// +kubebuilder:rbac:urls=/3,verbs=get\n");
  EXPECT_EQ(r.report, "");
  EXPECT_THAT(r.sources.components, ElementsAre(Key("one"), Key("two")));
  EXPECT_THAT(r.sources.components.at("one"), ElementsAre(Place{"a.cc", 2}, Place{"a.cc", 6}));
  ASSERT_THAT(r.sources.declarations, SizeIs(4));
  EXPECT_EQ(r.sources.declarations[0].component, "");
  EXPECT_EQ(r.sources.declarations[1].component, "one");
  EXPECT_EQ(r.sources.declarations[2].component, "two");
  EXPECT_EQ(r.sources.declarations[3].component, "one");
}

TEST(ReadDeclarations, AComponentEndsWithItsFile) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", "// +mandate:component:name=one\n", Severity::kError, &sources,
                   &diagnostics);
  ReadDeclarations("b.cc", "// +kubebuilder:rbac:urls=/x,verbs=get\n", Severity::kError, &sources,
                   &diagnostics);
  EXPECT_EQ(sources.declarations[0].component, "");
}

TEST(ReadDeclarations, RulesAboveTheFirstMarkerBelongToTheGivenComponent) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.go",
                   "\n// +kubebuilder:rbac:urls=/0,verbs=get\n"
                   "// +kubebuilder:rbac:urls=/1,verbs=get\n"
                   "// +mandate:component:name=two\n"
                   "// +kubebuilder:rbac:urls=/2,verbs=get\n",
                   Severity::kError, &sources, &diagnostics, "folder");
  ReadDeclarations("b.go", "// no rule\n", Severity::kError, &sources, &diagnostics, "empty");
  EXPECT_EQ(diagnostics.Report(), "");
  ASSERT_THAT(sources.declarations, SizeIs(3));
  EXPECT_EQ(sources.declarations[0].component, "folder");
  EXPECT_EQ(sources.declarations[1].component, "folder");
  EXPECT_EQ(sources.declarations[2].component, "two");
  EXPECT_THAT(sources.components, ElementsAre(Key("folder"), Key("two")));
  EXPECT_THAT(sources.components["folder"], ElementsAre(Place{"a.go", 2}));
}

TEST(ReadDeclarations, ReadsTheMandateRbacMarker) {
  const Result r = Read(
      "// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=get\n"
      "// +mandate:rbac:justify=\"it binds, so: bind\",groups=g,resources=r,verbs=bind\n");
  EXPECT_EQ(r.report, "");
  ASSERT_THAT(r.sources.declarations, SizeIs(2));
  EXPECT_TRUE(r.sources.declarations[0].ours);
  EXPECT_TRUE(r.sources.declarations[0].external);
  EXPECT_FALSE(r.sources.declarations[1].external);
  EXPECT_EQ(r.sources.declarations[1].justification, "it binds, so: bind");
}

TEST(ReadDeclarations, StringsOfMandateMarkersMaySpanLines) {
  const Result r = Read(
      "// +mandate:rbac:justify=\"Because\n//   of \\\"this\\\"\n"
      "// one.\",groups=g,resources=r,verbs=bind\n// And prose.\n"
      "// +kubebuilder:rbac:groups=g,resources=r,verbs=get\n// Prose again.\n");
  EXPECT_EQ(r.report, "");
  ASSERT_THAT(r.sources.declarations, SizeIs(2));
  EXPECT_EQ(r.sources.declarations[0].justification, "Because of \"this\" one.");
  EXPECT_EQ(r.sources.declarations[0].place.line, 1);
  EXPECT_EQ(r.sources.declarations[1].place.line, 5);
}

TEST(ReadDeclarations, ARuleInSeveralNamespacesIsOneDeclarationForEach) {
  const Result r = Read(
      "// +mandate:rbac:groups=g,resources=r,verbs=get,namespaces=a;b\n"
      "// +mandate:rbac:groups=g,resources=r,resourceNames=x,verbs=watch,"
      "fieldSelector=metadata.name\n");
  EXPECT_EQ(r.report, "");
  ASSERT_THAT(r.sources.declarations, SizeIs(3));
  EXPECT_EQ(r.sources.declarations[0].ns, "a");
  EXPECT_EQ(r.sources.declarations[1].ns, "b");
  EXPECT_EQ(r.sources.declarations[1].place.line, 1);
  EXPECT_EQ(r.sources.declarations[2].ns, "");
  EXPECT_TRUE(r.sources.declarations[2].selects_by_name);
}

TEST(ReadDeclarations, FencesBelongToTheComponentAbove) {
  const Result r = Read(
      "// +mandate:component:name=one\n"
      "// +mandate:fence:groups=g,resources=r,names=\"a/\n// b\"\n"
      "// +mandate:fence:groups=g,resources=r,label=l\n");
  EXPECT_THAT(r.report, HasSubstr("a.cc:2: error: +mandate:fence: names: \"a/ b\": "));
  ASSERT_THAT(r.sources.fences, SizeIs(1));
  EXPECT_EQ(r.sources.fences[0].component, "one");
  EXPECT_EQ(r.sources.fences[0].fence.label, "l");
  EXPECT_EQ(r.sources.fences[0].place, (Place{"a.cc", 4}));
}

// controller-gen uses the last one without a message.
TEST(ReadDeclarations, ReportsARepeatedArgument) {
  const std::string line = "// +kubebuilder:rbac:groups=g,resources=r,verbs=get,verbs=list";
  const Result r = Read(line, "a.cc", Severity::kWarning);
  EXPECT_THAT(r.report, HasSubstr("a.cc:1: warning: argument \"verbs\" is given twice"));
  EXPECT_EQ(r.diagnostics.errors(), 0);
  EXPECT_THAT(r.sources.declarations.at(0).rule.verbs, ElementsAre("list"));
  EXPECT_EQ(Read(line).diagnostics.errors(), 1);
}

// controller-gen ignores such a marker without a message (controller-tools #221).
TEST(ReadDeclarations, ReadsMarkersDirectlyAboveAFunction) {
  const Result r = Read(
      "package a\n\n// +kubebuilder:rbac:groups=g,resources=r,verbs=get\nfunc Reconcile() {}\n",
      "a.go");
  EXPECT_THAT(r.sources.declarations, SizeIs(1));
}

TEST(ReadDeclarations, OtherToolsMarkersAreIgnored) {
  const Result r = Read(
      "// +optional\n// +kubebuilder:object:root=true\n// +kubebuilder:validation:Enum=a;b\n"
      "// +k8s:deepcopy-gen=package\n// +kubebuilder:ac:generate=true\n// +build linux\n"
      "// +kubebuilder:resource:path=a\n// +groupName=g\n// + a list item\n// +1\n//+\n"
      "// +kubebuilder:webhook:path=/x\n");
  EXPECT_EQ(r.report, "");
  EXPECT_THAT(r.sources.declarations, SizeIs(0));
}

class MistakeTest : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(MistakeTest, IsAnErrorWithItsPlace) {
  const auto& [line, want] = GetParam();
  const Result r = Read("\n" + line + "\n");
  EXPECT_THAT(r.report, HasSubstr("a.cc:2: error: "));
  EXPECT_THAT(r.report, HasSubstr(want));
  EXPECT_THAT(r.sources.declarations, SizeIs(0));
}

INSTANTIATE_TEST_SUITE_P(
    Table, MistakeTest,
    testing::ValuesIn(std::vector<std::pair<std::string, std::string>>{
        {"// +kubebuilder:rback:verbs=get",
         "unknown marker \"+kubebuilder:rback:verbs\"; did you mean +kubebuilder:rbac:"},
        {"// +kubebuilder:rbac", "missing argument \"verbs\""},
        {"// +kubebuilder:rbac:verbs", "unknown marker"},
        {"// +kubebuilder:rbac=get", "unknown marker"},
        {"// +kubebuilder:rbac :verbs=get", "unknown marker"},
        {"// + kubebuilder:rbac:verbs=get", "unknown marker"},
        {"// +Kubebuilder:RBAC:verbs=get", "unknown marker"},
        {"// +kubebuilder:rbca:verbs=get", "unknown marker"},
        {"// +kubebuidler:rbac:verbs=get", "unknown marker"},
        {"// +kubebuilder:rbac:groups:verbs=get", "unknown marker"},
        {"// +mandate:componet:name=a", "did you mean +mandate:component:"},
        {"// +mandat:component:name=a", "+mandate:component:"},
        {"// +mandate:rbca:verbs=get", "+mandate:rbac:"},
        {"// +mandate:component", "missing argument \"name\""},
        {"// +mandate:component:name=A", "must consist of lower-case letters"},
        {"// +mandate:component:name=", "must not be empty"},
        {"// +mandate:component:name=base", "is reserved for the manager's own identity"},
        {"// +mandate:component:name=a,name=a", "given twice"},
        {"// +mandate:component:name=a,value=x..y", "value must be the path of a chart's value"},
        {"// +mandate:component:name=a,value=x,unless=.y",
         "unless must be the path of a chart's value"},
        {"// +mandate:component:name=a,unless=x", "argument \"unless\" needs argument \"value\""},
        {"// +kubebuilder:rbac:verbs=get,justify=x", "unknown argument \"justify\""},
        {"// +kubebuilder:rbac:groups=g,resources=r", "missing argument \"verbs\""},
        {"// +kubebuilder:rbac:groups=g,resources=r,verbs=get x=y,", "expected the name"},
        {"// +mandate:rbac:verbs=get,verbs=list,urls=/x", "given twice"},
        {"// +mandate:rbac:granted=later,urls=/x,verbs=get", "granted must be \"external\""},
        {"// +mandate:rbac:namespace=a,namespaces=b,urls=/x,verbs=get", "write all of them in"},
        {"// +mandate:rbac:granted=external,groups=g,resources=r,verbs=get,namespace=$(NAMESPACE)",
         "namespace=$(NAMESPACE) is supported only in +mandate:rbac markers without granted"},
        {"// +kubebuilder:rbac:groups=g,resources=r,verbs=get,namespace=$(NAMESPACE)",
         "is supported only in +mandate:rbac markers"},
        {"// +kubebuilder:rbac:groups=g,resources=r,verbs=get,namespace=NAMESPACE",
         "write the name of the namespace"},
        {"// +mandate:rbac:groups=g,resources=r,verbs=get,namespaces={a,\"\"}",
         "has an empty name"},
        {"// +mandate:rbac:groups=g,resources=r,verbs=get,namespaces={a,NAMESPACE}",
         "write the name of the namespace"},
        {"// +mandate:rbac:granted=external,groups=g,resources=r,verbs=get,namespaces=$(NAMESPACE)",
         "is supported only in +mandate:rbac markers without granted"},
        {"// +mandate:rbac:justify=\" \",urls=/x,verbs=get", "justify is empty"},
        {"// +mandate:rbac:namespaces=,urls=/x,verbs=get", "namespaces is empty"},
        {"// +mandate:rbac:fieldSelector=spec.x,urls=/x,verbs=get", "must be \"metadata.name\""},
        {"// +mandate:fense:groups=g,resources=r,label=l", "+mandate:fence:"},
        {"// +mandate:fence:groups=g,resources=r", "+mandate:fence: a fence needs"},
        {"// +mandate:rbac:justify=\"\",urls=/x,verbs=get", "justify is empty"},
        {"// +mandate:rbac:roleName=x,urls=/x,verbs=get", "unknown argument \"roleName\""},
        {"// +mandate:rbac:justify=\"a\n// b\n//\n// c\",urls=/x,verbs=get", "not closed"},
        {"// +kubebuilder:rbac:groups=\"a\n// b\",resources=r,verbs=get", "not closed"},
        {"/// +kubebuilder:rback:urls=/x", "unknown marker"},
        {"/// +kubebuilder:rbac:urls=/x,verbs=get",
         "documentation comment is not read as a marker"},
        {"int x;  // +kubebuilder:rbac:urls=/x,verbs=get", "after code is not read as a marker"},
    }));

TEST(ReadDeclarations, MisplacedMarkersMayBeWarnings) {
  const Result r =
      Read("int x;  // +kubebuilder:rbac:urls=/x,verbs=get", "a.cc", Severity::kWarning);
  EXPECT_THAT(r.report, HasSubstr("a.cc:1: warning: +kubebuilder:rbac after code"));
  EXPECT_EQ(r.diagnostics.errors(), 0);
}

// A rule below a misspelt component marker must not belong to the component above it.
TEST(ReadDeclarations, AnInvalidComponentMarkerEndsTheComponentAbove) {
  const Result r = Read(
      "// +mandate:component:name=one\n"
      "// +mandate:component:name=TWO\n"
      "// +kubebuilder:rbac:urls=/x,verbs=get\n");
  ASSERT_THAT(r.sources.declarations, SizeIs(1));
  EXPECT_NE(r.sources.declarations[0].component, "one");
}

// Any text must be read without a crash, and each rule that is read must have verbs= and its place.
TEST(ReadDeclarations, SurvivesAnyText) {
  const std::string seed =
      "// +mandate:component:name=one\n"
      "// +kubebuilder:rbac:groups=\"\";core,resources={a, b},verbs=get;`x`,resourceNames=n\n"
      "/* // +mandate:rbac:verbs=x */ R\"x(\n// +a\n)x\" 'c' \"s\\\"\" r#\"t\"#\n"
      "// +mandate:rbac:justify=\"a\\u00e9\n// b\",urls=/x,verbs=bind\n";
  constexpr std::string_view kBytes("\n\r\t \"\\'`{}();:,=+/*#R0\xC3\xFF\0", 25);
  std::mt19937 random(221);
  size_t read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (size_t i = 0, n = 1 + random() % 4; i < n; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
          break;
        case 2:
          text.erase(at, random() % 4);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
      if (text.empty()) text = "/";
    }
    const char* const kFiles[] = {"a.cc", "a.go", "a.rs", "a.ts", "a.java", "a.proto"};
    const Result r = Read(text, kFiles[random() % 6]);
    const int lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    for (const Declaration& d : r.sources.declarations) {
      ++read;
      EXPECT_GE(d.place.line, 1);
      EXPECT_LE(d.place.line, lines);
      EXPECT_THAT(d.arguments, HasSubstr("verbs"));
    }
  }
  EXPECT_GT(read, 10000u);
}

// controller-gen skips the marker, which it does not know, and reads the rule below it.
TEST(ReadDeclarations, AReasonAppliesToTheRuleBelowIt) {
  const auto read = [](const std::string& text, std::string* report) {
    Sources sources;
    Diagnostics diagnostics;
    ReadDeclarations("a.go", text, Severity::kError, &sources, &diagnostics);
    *report = diagnostics.Report();
    return sources.declarations;
  };
  std::string report;
  const std::string rule = "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get\n";
  const auto rules = read(
      "// +mandate:justify:reason=\"It keeps the\n"
      "// certificate, there.\"\n" +
          rule + rule,
      &report);
  EXPECT_EQ(report, "");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].justification, "It keeps the certificate, there.");
  EXPECT_EQ(rules[1].justification, "") << "a reason is for one rule";
  const struct {
    const char* text;
    const char* want;
  } rows[] = {
      {"// +mandate:justify:reason=x\n", "a.go:1: error: this reason has no rule; "},
      {"// +mandate:justify:reason=x\n// +mandate:component:name=c\n",
       "a.go:1: error: this reason has no rule"},
      {"// +mandate:justify:reason=x\n// +mandate:justify:reason=y\n"
       "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get\n",
       "a.go:1: error: this reason has no rule"},
      {"// +mandate:justify:reason=\" \"\n", "a.go:1: error: +mandate:justify: reason is empty"},
      {"// +mandate:justify:why=x\n", "a.go:1: error: +mandate:justify: "},
      {"// +mandate:justfy:reason=x\n", "did you mean +mandate:justify:argument=value,…?"},
      {"// +mandate:justify:reason=x\n"
       "// +mandate:rbac:justify=y,groups=core,resources=secrets,verbs=get\n",
       "a.go:2: error: +mandate:rbac: the rule has justify and also a +mandate:justify marker "
       "above it; remove one of them"},
  };
  for (const auto& row : rows) {
    read(row.text, &report);
    EXPECT_NE(report.find(row.want), std::string::npos) << row.text << report;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
