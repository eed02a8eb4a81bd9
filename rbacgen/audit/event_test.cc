#include "rbacgen/audit/event.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;

TEST(ParseAuditEvent, ReadsARequestForAToken) {
  AuditEvent e;
  ASSERT_TRUE(ParseAuditEvent(R"({
    "kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a-1",
    "stage":"ResponseComplete","requestURI":"/api/v1/x?y=\u0026z","verb":"create",
    "user":{"username":"u","uid":"1","groups":["g","system:authenticated"],
            "extra":{"other":["x"],"authentication.kubernetes.io/credential-id":["JTI=1","JTI=2"]}},
    "sourceIPs":["127.0.0.1"],"userAgent":"agent/1",
    "objectRef":{"resource":"serviceaccounts","namespace":"ns","name":"sa","apiGroup":"g.io",
                 "apiVersion":"v1","subresource":"token"},
    "responseStatus":{"metadata":{},"code":201},
    "requestReceivedTimestamp":"2026-11-21T03:16:06.095292Z",
    "annotations":{"authentication.kubernetes.io/issued-credential-id":"JTI=3",
                   "authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC"}
  })",
                              &e)
                  .ok());
  EXPECT_EQ(e.audit_id, "a-1");
  EXPECT_EQ(e.stage, "ResponseComplete");
  EXPECT_EQ(e.verb, "create");
  EXPECT_EQ(e.request_uri, "/api/v1/x?y=&z");
  EXPECT_EQ(e.received, "2026-11-21T03:16:06.095292Z");
  EXPECT_EQ(e.user_agent, "agent/1");
  EXPECT_EQ(e.username, "u");
  EXPECT_EQ(e.user(), "u");
  EXPECT_FALSE(e.masters);
  EXPECT_THAT(e.credential_ids, ElementsAre("JTI=1", "JTI=2"));
  EXPECT_TRUE(e.has_object);
  EXPECT_EQ(e.group + "|" + e.resource + "|" + e.subresource + "|" + e.ns + "|" + e.name,
            "g.io|serviceaccounts|token|ns|sa");
  EXPECT_EQ(e.code, 201);
  EXPECT_FALSE(e.forbidden);
  EXPECT_TRUE(e.authorized);
  EXPECT_EQ(e.issued_credential_id, "JTI=3");
}

TEST(ParseAuditEvent, ReadsImpersonationMastersAndDenial) {
  AuditEvent e;
  ASSERT_TRUE(
      ParseAuditEvent(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1",)"
                      R"("user":{"username":"admin","groups":["system:masters"]},)"
                      R"("impersonatedUser":{"username":"other","groups":["g"],)"
                      R"("extra":{"authentication.kubernetes.io/credential-id":["JTI=9"]}},)"
                      R"("responseStatus":{"code":403},)"
                      R"("annotations":{"authorization.k8s.io/decision":"forbid"}})",
                      &e)
          .ok());
  EXPECT_EQ(e.username, "admin");
  EXPECT_EQ(e.user(), "other");
  EXPECT_TRUE(e.masters);
  EXPECT_TRUE(e.forbidden);
  EXPECT_FALSE(e.authorized);
  EXPECT_TRUE(e.credential_ids.empty());  // only ids of the token itself count
  EXPECT_FALSE(e.has_object);
}

TEST(ParseAuditEvent, ClearsThePreviousEvent) {
  AuditEvent e;
  e.username = "old";
  e.masters = true;
  e.credential_ids = {"old"};
  ASSERT_TRUE(
      ParseAuditEvent(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","user":{}})", &e).ok());
  EXPECT_EQ(e.username, "");
  EXPECT_FALSE(e.masters);
  EXPECT_TRUE(e.credential_ids.empty());
}

// kube-apiserver posts such items to a webhook.
TEST(ParseAuditEvent, AcceptsAListItemWithoutKind) {
  AuditEvent e;
  ASSERT_TRUE(
      ParseAuditEvent(R"({"level":"Metadata","auditID":"a-1","stage":"ResponseComplete"})", &e)
          .ok());
  EXPECT_EQ(e.audit_id, "a-1");
}

// Tools that ship and filter logs write null for absent members.
TEST(ParseAuditEvent, NullIsAbsent) {
  AuditEvent e;
  const absl::Status status = ParseAuditEvent(
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"get","stage":null,"user":)"
      R"({"username":"u","groups":null,"extra":{"authentication.kubernetes.io/credential-id":null}},)"
      R"("impersonatedUser":null,"objectRef":null,"responseStatus":{"code":null,"message":null},)"
      R"("sourceIPs":null,"userAgent":null,"annotations":null})",
      &e);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(e.verb + "|" + e.stage + "|" + e.user() + "|" + e.user_agent, "get||u|");
  EXPECT_FALSE(e.has_object);
  EXPECT_EQ(e.code, 0);
}

TEST(ParseAuditEvent, ErrorNamesTheActualKind) {
  AuditEvent e;
  EXPECT_EQ(AsStd(ParseAuditEvent(R"({"log":"{}","stream":"stdout"})", &e).message()),
            "not an Event of audit.k8s.io/v1: it has no kind");
  EXPECT_EQ(
      AsStd(
          ParseAuditEvent(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1beta1"})", &e).message()),
      "not an Event of audit.k8s.io/v1: kind Event of audit.k8s.io/v1beta1");
}

TEST(ParseAuditEvent, RejectsInvalidEvents) {
  AuditEvent e;
  for (const char* line : {"", "null", R"({"level":"Metadata","auditID":"a-1"})", "[]", "{",
                           R"({"kind":"Event"})", R"({"kind":"Event","apiVersion":"v1"})",
                           R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]})",
                           R"({"kind":"Event","apiVersion":"audit.k8s.io/v1"} x)",
                           R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":1})",
                           R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","user":[]})"}) {
    EXPECT_FALSE(ParseAuditEvent(line, &e).ok()) << line;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
