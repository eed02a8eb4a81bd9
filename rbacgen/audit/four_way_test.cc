#include "rbacgen/audit/four_way.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

constexpr char kPolicy[] =
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n"
    "- {level: None, resources: [{group: '', resources: [configmaps]}]}\n- {level: Metadata}\n";

struct Case {
  std::string name;
  rbac::Rule rule;   // a rule that component a declares
  std::string want;  // the verdict, then the kinds of findings
  // The rest of the input.
  std::vector<std::string> used = {};  // "VERB URI"
  std::vector<CompiledCall> compiled = {};
  bool external = false, with_policy = false, short_log = false, not_granted = false;
  // Implicit: every component has it; marked: a marker declares it.
  bool implicit = false, marked = false;
};

rbac::Rule Rule(const std::string& verb, const std::string& resource,
                const std::string& group = "") {
  return {{verb}, {group}, {resource}, {}, {}};
}

std::string Judged(const Case& c) {
  TraceReport trace;
  trace.first = "2026-11-21T00:00:00Z";
  trace.last = "2026-11-21T01:00:00Z";
  FourWayInput input;
  input.users["a"] = rbac::ServiceAccountInfo("n", "a");
  if (!c.compiled.empty()) input.compiled = c.compiled;
  const auto policy = AuditPolicyFile::Parse(kPolicy);
  EXPECT_TRUE(policy.ok());
  if (c.with_policy) input.policy = &*policy;
  if (c.short_log) input.window_seconds = 7200;
  input.has_granted = c.not_granted;

  Ledger ledger;
  std::vector<RuleAtom> atoms, none;
  if (c.marked || !c.implicit) {
    AddAtoms(c.rule, {.ns = "", .rule = {}, .source = "x:1", .external = c.external}, &atoms);
  }
  if (c.implicit) AddAtoms(c.rule, {.ns = "", .rule = {}, .source = "", .implicit = true}, &atoms);
  ledger.Declare("a", atoms, none);
  // The second component's watch of pods feeds the shared cache.
  std::vector<RuleAtom> watch;
  AddAtoms(Rule("watch", "pods"), {.ns = "", .rule = {}, .source = "y:1"}, &watch);
  ledger.Declare("b", watch, none);
  const auto note = [&](const std::string& component, const std::string& request) {
    AuditEvent event;
    event.verb = request.substr(0, request.find(' '));
    event.request_uri = request.substr(request.find(' ') + 1);
    event.code = 200;
    event.stage = "ResponseComplete";
    ledger.Note(event, component, component);
  };
  note("b", "watch /api/v1/pods?watch=1");
  note("a", "get /version");  // without a request, nothing would be known about component a
  for (const std::string& request : c.used) note("a", request);

  const FourWayReport report = BuildFourWay(input, ledger, trace);
  std::string text;
  for (const FourWayRow& row : report.identities.at(0).rows) {
    StrAppend(&text, text.empty() ? "" : ", ", VerdictWords(row.verdict));
  }
  for (const Finding& finding : report.findings) {
    if (finding.text.find("/version") == std::string::npos) StrAppend(&text, "|", finding.kind);
  }
  return text;
}

TEST(FourWay, GivesEachRuleItsVerdict) {
  const std::string uses = "delete /api/v1/namespaces/n/pods/p";
  const CompiledCall call = {"a", "delete", "", "pods", ""};
  const CompiledCall everybodys = {"*", "delete", "", "pods", ""};
  const CompiledCall anothers = {"b", "delete", "", "pods", ""};
  const Case kCases[] = {
      {"used", Rule("delete", "pods"), "", {uses}},
      {"unused", Rule("delete", "pods"), "unused|unused-write"},
      {"an unused read", Rule("get", "pods"), "unused|unused-read"},
      {"the code has the call", Rule("delete", "pods"), "not exercised|unexercised", {}, {call}},
      {"the runtime has the call",
       Rule("delete", "pods"),
       "not exercised|unexercised",
       {},
       {everybodys}},
      {"another's code has it", Rule("delete", "pods"), "unused|unused-write", {}, {anothers}},
      {"a call that no marker declares",
       Rule("get", "nodes"),
       "unused|unused-read|undeclared-call",
       {},
       {call}},
      {"a call of the runtime's is no component's mistake",
       Rule("get", "nodes"),
       "unused|unused-read",
       {},
       {everybodys}},
      {"the server asks itself", Rule("bind", "clusterroles", "rbac.authorization.k8s.io"),
       "never logged: the server checks it internally"},
      {"finalizers", Rule("update", "things/finalizers", "g.io"),
       "never logged: the server checks it internally"},
      {"the cache's watch serves its list", Rule("list", "pods"), "served by the shared cache"},
      {"and its watch", Rule("watch", "pods"), "served by the shared cache"},
      {"of another kind it does not", Rule("list", "nodes"), "unused|unused-read"},
      {.name = "the policy leaves it out",
       .rule = Rule("delete", "configmaps"),
       .want = "hidden by the audit policy|hidden",
       .with_policy = true},
      {.name = "the policy has it",
       .rule = Rule("delete", "pods"),
       .want = "unused|unused-write",
       .with_policy = true},
      {.name = "somebody else grants it",
       .rule = Rule("delete", "pods"),
       .want = "granted externally",
       .external = true,
       .not_granted = true},
      {.name = "the rule for events, which a Go project's role need not have",
       .rule = Rule("create", "events", "events.k8s.io"),
       .want = "unused",
       .not_granted = true,
       .implicit = true},
      {.name = "which a marker declares too",
       .rule = Rule("create", "events", "events.k8s.io"),
       .want = "unused|not-granted|unused-write",
       .not_granted = true,
       .implicit = true,
       .marked = true},
      {.name = "too short a log",
       .rule = Rule("delete", "pods"),
       .want = "not used yet",
       .short_log = true},
      {.name = "declared and not granted",
       .rule = Rule("delete", "pods"),
       .want = "|not-granted",
       .used = {uses},
       .not_granted = true},
  };
  for (const Case& c : kCases) EXPECT_EQ(Judged(c), c.want) << c.name;
}

std::vector<std::string> FindingsOf(const RuleAtom& declared, const RuleAtom& granted) {
  FourWayInput input;
  input.users["a"] = rbac::ServiceAccountInfo("n", "a");
  input.has_granted = true;
  Ledger ledger;
  ledger.Declare("a", {declared}, {granted});
  std::vector<std::string> texts;
  for (const Finding& finding : BuildFourWay(input, ledger, {}).findings) {
    if (finding.kind != "hidden") texts.push_back(StrCat(finding.kind, ": ", finding.text));
  }
  return texts;
}

TEST(FourWay, AGrantAppliesOnlyInItsNamespace) {
  const auto in = [](std::string ns, std::string source) {
    return RuleAtom{.ns = std::move(ns), .rule = Rule("delete", "pods"), .source = source};
  };
  EXPECT_THAT(FindingsOf(in("n", "x:1"), in("n", "a Role")), testing::IsEmpty());
  EXPECT_THAT(FindingsOf(in("n", "x:1"), in("m", "a Role")),
              testing::UnorderedElementsAre(
                  "not-granted: the marker in x:1 declares the permission to delete pods in n, "
                  "but no binding grants it",
                  "excess-grant: a Role grants the permission to delete pods in m, but no marker "
                  "declares it; never used"));
  EXPECT_THAT(
      FindingsOf(in("", "x:1"), in("m", "a Role")),
      testing::ElementsAre("not-granted: the marker in x:1 declares the permission to delete pods, "
                           "but no binding grants it"));
  EXPECT_THAT(
      FindingsOf(in("n", "x:1"), in("", "a ClusterRole")),
      testing::ElementsAre("excess-grant: a ClusterRole grants the permission to delete pods, but "
                           "no marker declares it; never used"));
}

}  // namespace
}  // namespace mandate::rbacgen
