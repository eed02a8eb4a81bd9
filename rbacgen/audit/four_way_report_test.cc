#include "rbacgen/audit/four_way_report.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::Not;

rbac::Rule Rule(const std::string& verb, const std::string& resource,
                const std::string& name = "") {
  rbac::Rule rule = {{verb}, {"g.io"}, {resource}, {}, {}};
  if (!name.empty()) rule.resource_names = {name};
  return rule;
}

FourWayReport Sample() {
  FourWayIdentity identity;
  identity.component = "a";
  identity.user.name = "system:serviceaccount:ns:mm-a";
  identity.requests = 1;
  identity.tokens = 2;
  identity.rows = {
      {.rule = Rule("get", "pods", "web"),
       .ns = "shop",
       .declared = {"src/a.h:4", "src/b.h:5"},
       .compiled = true,
       .used = 7,
       .granted = true,
       .granted_by = "",
       .verdict = Verdict::kUsed},
      {.rule = Rule("delete", "pods"),
       .ns = "",
       .declared = {"src/a.h:4"},
       .compiled = false,
       .granted = false,
       .granted_by = "",
       .verdict = Verdict::kUnused},
      {.rule = {{"get"}, {}, {}, {}, {"/metrics"}},
       .ns = "",
       .declared = {},
       .compiled = {},
       .granted = {},
       .granted_by = "",
       .verdict = Verdict::kUndeclared},
      {.rule = Rule("create", "events"),
       .ns = "",
       .declared = {},
       .implicit = true,
       .compiled = {},
       .used = 1,
       .granted = {},
       .granted_by = ""},
      {.rule = Rule("patch", "events"),
       .ns = "",
       .declared = {},
       .implicit = true,
       .compiled = {},
       .granted = {},
       .granted_by = ""},
  };
  FourWayReport report;
  report.identities = {identity};
  return report;
}

TraceReport SampleTrace() {
  TraceReport trace;
  trace.requests = 3;
  trace.lines = 1;
  return trace;
}

TEST(FourWayText, WritesATableForEachIdentityAndTotals) {
  EXPECT_EQ(FourWayText(Sample(), SampleTrace(), false),
            "a  (ns/mm-a)  1 request, 2 tokens\n"
            "VERB RESOURCE                    DECLARED  COMPILED  USED  GRANTED  REMARK\n"
            "get pods.g.io named web in shop  a.h:4, …  yes          7  yes\n"
            "delete pods.g.io                 a.h:4     -            -  -        unused\n"
            "get /metrics                     -         ?            -  ?        not declared\n"
            "create events.g.io               always    ?            1  ?\n"
            "patch events.g.io                always    ?            -  ?\n"
            "\n"
            "3 requests from the manager in 1 event; no findings\n");
}

TEST(FourWayText, ListsFindingsAndNotes) {
  FourWayReport report = Sample();
  report.findings = {{.kind = "denied", .component = "a", .text = "one\x1b[0m\x7f"},
                     {.kind = "hidden", .component = "", .text = "two"}};
  report.notes = {"short\n"};
  TraceReport trace = SampleTrace();
  trace.first = "03:00";
  trace.last = "04:00";
  EXPECT_THAT(
      FourWayText(report, trace, false),
      HasSubstr("FOUND denied: a: one\\x1b[0m\\x7f\nFOUND hidden: two\nNOTE short\\x0a\n"
                "3 requests from the manager in 1 event from 03:00 to 04:00; 2 findings\n"));
  report.findings.pop_back();
  EXPECT_THAT(FourWayText(report, trace, false), HasSubstr("; 1 finding\n"));
  EXPECT_THAT(FourWayText(report, trace, false), Not(HasSubstr("ISSUED TO")));
  trace.tokens = {{.credential_id = "JTI=1",
                   .component = "a",
                   .joined = false,
                   .issued_to = "",
                   .issued_by = "",
                   .when = ""}};
  EXPECT_THAT(FourWayText(report, trace, false), HasSubstr("no TokenRequest in this log\n\nFOUND"));
}

TEST(FourWayText, OnlyProblemsAreRed) {
  const auto is_red = [](Verdict verdict) {
    FourWayReport report = Sample();
    report.identities[0].rows.resize(1);
    report.identities[0].rows[0].verdict = verdict;
    return FourWayText(report, {}, true).find("\x1b[31m") != std::string::npos;
  };
  using enum Verdict;
  for (const Verdict problem : {kUnused, kUndeclared, kHidden}) {
    EXPECT_TRUE(is_red(problem)) << VerdictWords(problem);
  }
  for (const Verdict good : {kUsed, kServed, kUnexercised, kUnseen, kNotYet, kExternal}) {
    EXPECT_FALSE(is_red(good)) << VerdictWords(good);
  }
}

TEST(FourWayJson, IncludesTheMembersOfTheTrace) {
  FourWayReport report = Sample();
  report.identities[0].rows.erase(report.identities[0].rows.begin() + 1);
  report.identities[0].rows.pop_back();
  report.findings = {{.kind = "denied", .component = "a", .text = "one"},
                     {.kind = "hidden", .component = "", .text = "two"}};
  report.notes = {"short"};
  TraceReport trace = SampleTrace();
  trace.findings = {{"masters", "of the trace"}};
  trace.first = "03:00";
  trace.last = "04:00";
  EXPECT_EQ(
      FourWayJson(report, trace),
      R"({"components":[{"component":"a","requests":1,"rules":[)"
      R"({"compiled":true,"declared":["src/a.h:4","src/b.h:5"],"granted":true,"group":"g.io",)"
      R"("name":"web","namespace":"shop","remark":"","resource":"pods","used":7,"verb":"get"},)"
      R"({"declared":[],"remark":"not declared","url":"/metrics","used":0,"verb":"get"},)"
      R"({"declared":[],"group":"g.io","implicit":true,"remark":"","resource":"events","used":1,)"
      R"("verb":"create"}],"tokens":2,"username":"system:serviceaccount:ns:mm-a"}],"elsewhere":{},)"
      R"("findings":[{"component":"a","kind":"denied","text":"one"},{"kind":"hidden","text":"two"}],)"
      R"("first":"03:00","identities":[],"last":"04:00","lines":1,"notes":["short"],"requests":3,)"
      R"("tokens":[],"trace":[{"kind":"masters","next":"give the )"
      R"(manager its own credential, not that of an administrator","severity":"high",)"
      R"("text":"of the trace"}],"unreadableLines":0,"unusedTokens":0})"
      "\n");
}

}  // namespace
}  // namespace mandate::rbacgen
