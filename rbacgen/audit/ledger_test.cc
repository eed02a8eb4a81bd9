#include "rbacgen/audit/ledger.h"

#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

AuditEvent Event(std::string verb, std::string uri, int code = 200) {
  AuditEvent e;
  e.verb = std::move(verb);
  e.request_uri = std::move(uri);
  e.code = code;
  e.username = "system:serviceaccount:ns:x-a";
  e.reason = R"(RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "x-a/ns")";
  return e;
}

std::vector<RuleAtom> Atoms(const rbac::Rule& rule, std::string ns = "") {
  std::vector<RuleAtom> atoms;
  AddAtoms(rule, {.ns = std::move(ns), .rule = {}, .source = "x.h:1"}, &atoms);
  return atoms;
}

int64_t Uses(const IdentityLedger& ledger, const std::string& verb) {
  int64_t uses = 0;
  for (const RuleAtom& atom : ledger.declared.atoms()) {
    if (atom.rule.verbs.front() == verb) uses += atom.uses;
  }
  return uses;
}

TEST(AttributesOfEvent, AreThoseThatTheAuthorizerSaw) {
  AuditEvent e =
      Event("list", "/apis/apps/v1/namespaces/n/deployments?fieldSelector=metadata.name%3Dx");
  rbac::Attributes a = AttributesOfEvent(e);
  EXPECT_EQ(a.api_group + "|" + a.resource + "|" + a.ns + "|" + a.name, "apps|deployments|n|x");
  // The event's objectRef has a POST's name, which comes from its body. The authorizer does not see
  // it.
  e = Event("create", "/api/v1/namespaces/n/pods", 201);
  e.has_object = true;
  e.resource = "pods";
  e.ns = "n";
  e.name = "new";
  EXPECT_EQ(AttributesOfEvent(e).name, "");
  // If the URI is invalid, objectRef counts.
  e.request_uri = "nonsense";
  a = AttributesOfEvent(e);
  EXPECT_EQ(a.resource + "|" + a.ns + "|" + a.name, "pods|n|");
  a = AttributesOfEvent(Event("get", "/metrics?x"));
  EXPECT_FALSE(a.is_resource_request);
  EXPECT_EQ(a.path, "/metrics");
}

TEST(ParseReason, ReadsTheServersReason) {
  const auto by = ParseReason(
      R"(RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "system:authenticated")");
  ASSERT_TRUE(by);
  EXPECT_EQ(by->binding, "ClusterRoleBinding \"b\"");
  EXPECT_EQ(by->role, "r");
  EXPECT_EQ(by->subject, "Group \"system:authenticated\"");
  EXPECT_FALSE(IsEverybodys(*by, {}));
  for (const char* reason : {"", "RBAC: allowed by", "RBAC: allowed by ClusterRoleBinding \"b",
                             "RBAC: allowed by ClusterRoleBinding \"b\" of Thing", "node: yes"}) {
    EXPECT_FALSE(ParseReason(reason)) << reason;
  }
}

TEST(Ledger, CountsUsesByRule) {
  Ledger ledger;
  ledger.Declare("a", Atoms({{"get", "delete"}, {""}, {"pods"}, {"web"}, {}}, "n"),
                 Atoms({{"get"}, {""}, {"pods"}, {}, {}}, "n"));
  ledger.Note(Event("get", "/api/v1/namespaces/n/pods/web"), "a", "a");
  ledger.Note(Event("get", "/api/v1/namespaces/n/pods/web"), "a", "a");
  const IdentityLedger& a = ledger.identities().at("a");
  EXPECT_EQ(a.requests, 2);
  EXPECT_EQ(Uses(a, "get"), 2);
  EXPECT_EQ(Uses(a, "delete"), 0);
  EXPECT_TRUE(a.undeclared.empty());
  // The name or the namespace differs.
  ledger.Note(Event("get", "/api/v1/namespaces/n/pods/other"), "a", "a");
  ledger.Note(Event("get", "/api/v1/namespaces/m/pods/web"), "a", "a");
  EXPECT_EQ(Uses(a, "get"), 2);
  ASSERT_EQ(a.undeclared.size(), 1);
  const Unexplained& u = a.undeclared.begin()->second;
  EXPECT_EQ(u.count, 2);
  EXPECT_EQ(u.example.name, "other");
  EXPECT_EQ(u.namespaces, (std::set<std::string>{"m", "n"}));
  EXPECT_EQ(a.granted.atoms().at(0).uses, 3) << "of any name in its namespace";
  EXPECT_EQ(u.by.binding, "RoleBinding \"b/ns\"");
}

TEST(Ledger, ADeniedRequestUsesNoRight) {
  Ledger ledger;
  ledger.Declare("a", Atoms({{"get"}, {""}, {"pods"}, {}, {}}), {});
  ledger.Note(Event("get", "/api/v1/namespaces/n/pods/web", 403), "a", "a");
  AuditEvent forbidden = Event("delete", "/api/v1/namespaces/n/pods/web", 0);
  forbidden.forbidden = true;
  ledger.Note(forbidden, "a", "a");
  ledger.Note(Event("get", "/api/v1/namespaces/n/pods/web", 401), "a", "a");
  const IdentityLedger& a = ledger.identities().at("a");
  EXPECT_EQ(Uses(a, "get"), 0);
  EXPECT_TRUE(a.undeclared.empty());
  ASSERT_EQ(a.denied.size(), 2);
  EXPECT_TRUE(a.denied.at("get pods").declared);
  EXPECT_FALSE(a.denied.at("delete pods").declared);
}

TEST(Ledger, ADeniedRequestWaitsForAGrantIfAllItsRulesAreExternal) {
  std::vector<RuleAtom> atoms = Atoms({{"list"}, {""}, {"pods", "secrets"}, {}, {}});
  for (RuleAtom& atom : atoms) atom.external = true;
  atoms.push_back({.ns = "m", .rule = {{"list"}, {""}, {"secrets"}, {}, {}}, .source = "chart"});
  Ledger ledger;
  ledger.Declare("a", std::move(atoms), {});
  for (const char* request :
       {"pods", "namespaces/m/pods", "namespaces/n/secrets", "namespaces/m/secrets", "nodes"}) {
    ledger.Note(Event("list", StrCat("/api/v1/", request), 403), "a", "a");
  }
  const IdentityLedger& a = ledger.identities().at("a");
  ASSERT_EQ(a.not_granted.size(), 2);
  EXPECT_EQ(a.not_granted.at("list pods").count, 2);
  EXPECT_EQ(a.not_granted.at("list secrets").example.ns, "n");
  ASSERT_EQ(a.denied.size(), 2);
  EXPECT_EQ(a.denied.at("list secrets").example.ns, "m") << "the chart grants it there";
  EXPECT_TRUE(a.denied.at("list secrets").declared);
  EXPECT_FALSE(a.denied.at("list nodes").declared);
}

TEST(Ledger, ARequestThatAdmissionDeniesUsesItsRight) {
  Ledger ledger;
  ledger.Declare("a", Atoms({{"create"}, {""}, {"pods"}, {}, {}}), {});
  AuditEvent refused = Event("create", "/api/v1/namespaces/n/pods", 403);
  refused.authorized = true;
  ledger.Note(refused, "a", "a");
  const IdentityLedger& a = ledger.identities().at("a");
  EXPECT_EQ(Uses(a, "create"), 1);
  EXPECT_TRUE(a.denied.empty());
  ASSERT_EQ(a.refused.size(), 1);
  EXPECT_EQ(a.refused.begin()->first, "create pods");
}

TEST(Ledger, AnApplyThatCreatesUsesCreate) {
  Ledger ledger;
  ledger.Declare("a", Atoms({{"create", "patch"}, {""}, {"pods"}, {}, {}}), {});
  ledger.Note(Event("patch", "/api/v1/namespaces/n/pods/web"), "a", "a");
  const IdentityLedger& a = ledger.identities().at("a");
  EXPECT_EQ(Uses(a, "create"), 0);
  ledger.Note(Event("patch", "/api/v1/namespaces/n/pods/web", 201), "a", "a");
  EXPECT_EQ(Uses(a, "create"), 1);
  EXPECT_EQ(Uses(a, "patch"), 2);
  EXPECT_TRUE(a.undeclared.empty());

  ledger.Declare("b", Atoms({{"patch"}, {""}, {"pods"}, {}, {}}), {});
  ledger.Note(Event("patch", "/api/v1/namespaces/n/pods/web", 201), "b", "b");
  const IdentityLedger& b = ledger.identities().at("b");
  ASSERT_EQ(b.undeclared.size(), 1u);
  EXPECT_EQ(b.undeclared.begin()->second.example.verb, "create");
}

TEST(Ledger, IgnoresRightsThatKubernetesGrantsToAllUsers) {
  Ledger ledger;
  ledger.Declare("a", {}, {});
  AuditEvent e = Event("get", "/healthz");
  e.reason = R"(RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole )"
             R"("system:public-info-viewer" to Group "system:authenticated")";
  ledger.Note(e, "a", "a");
  EXPECT_TRUE(ledger.identities().at("a").undeclared.empty());
  // The cluster's role with this name allows more than Kubernetes' own role.
  AuditEvent more = e;
  more.request_uri = "/metrics";
  ledger.Note(more, "a", "a");
  EXPECT_EQ(ledger.identities().at("a").undeclared.size(), 1);
  e.reason.replace(e.reason.find("system:public"), 6, "custom");
  e.reason.replace(e.reason.rfind("system:public"), 6, "custom");
  ledger.Note(e, "a", "a");
  EXPECT_EQ(ledger.identities().at("a").undeclared.size(), 2);
}

TEST(Ledger, IgnoresDiscoveryThroughAnyBinding) {
  Ledger ledger;
  ledger.Declare("a", {}, {});
  for (const char* path : {"/api", "/api/v1", "/apis", "/apis/apps/v1", "/apis/apps/v1?timeout=32s",
                           "/openapi/v2", "/openapi/v3/apis/apps/v1", "/version", "/version/"}) {
    ledger.Note(Event("get", path), "a", "a");
    AuditEvent unexplained = Event("get", path);
    unexplained.reason = "";  // another authorizer allowed it
    ledger.Note(unexplained, "a", "a");
  }
  const IdentityLedger& a = ledger.identities().at("a");
  EXPECT_EQ(a.requests, 18);
  EXPECT_TRUE(a.undeclared.empty()) << a.undeclared.begin()->first;
  // Paths that only begin like discovery paths, and writes.
  for (const char* path : {"/apiserver", "/versions", "/metrics", "/apis/apps/v1/deployments"}) {
    ledger.Note(Event(path[5] == '/' && path[10] == '/' ? "list" : "get", path), "a", "a");
  }
  ledger.Note(Event("create", "/apis"), "a", "a");
  EXPECT_EQ(a.undeclared.size(), 5u);
}

TEST(Ledger, ImpersonationUsesTheBearersRight) {
  Ledger ledger;
  ledger.Declare("base",
                 Atoms({{"impersonate"}, {""}, {"serviceaccounts"}, {"x-a", "x-b"}, {}}, "ns"), {});
  ledger.Declare("a", Atoms({{"get"}, {""}, {"pods"}, {}, {}}), {});
  AuditEvent e = Event("get", "/api/v1/namespaces/n/pods/web");
  e.impersonated = e.username;
  e.username = "system:serviceaccount:ns:x";
  ledger.Note(e, "a", "base");
  // By the right on x-a, not on x-b.
  EXPECT_EQ(Uses(ledger.identities().at("base"), "impersonate"), 1);
  EXPECT_EQ(Uses(ledger.identities().at("a"), "get"), 1);
}

TEST(Ledger, NamespacesOfAnOperationAreBounded) {
  Ledger ledger;
  ledger.Declare("a", {}, {});
  for (int i = 0; i < 60; ++i) {
    ledger.Note(Event("get", "/api/v1/namespaces/n" + std::to_string(i) + "/pods/web"), "a", "a");
  }
  ASSERT_EQ(ledger.identities().at("a").undeclared.size(), 1);
  const Unexplained& u = ledger.identities().at("a").undeclared.begin()->second;
  EXPECT_EQ(u.count, 60);
  EXPECT_EQ(u.namespaces.size(), 50);
}

TEST(Ledger, KeepsALimitedNumberOfUnexplainedOperations) {
  Ledger ledger(/*max_unexplained=*/2);
  ledger.Declare("a", {}, {});
  for (const char* verb : {"get", "list", "watch"}) {
    AuditEvent e = Event(verb, "/apis/g/v1/things");
    e.has_object = true;
    e.group = "g";
    e.resource = "things";
    ledger.Note(e, "a", "a");
  }
  EXPECT_EQ(ledger.identities().at("a").undeclared.size(), 2);
  EXPECT_TRUE(ledger.identities().at("a").left_out);
}

}  // namespace
}  // namespace mandate::rbacgen
