#include "rbacgen/audit/report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::Not;

TraceReport Sample() {
  TraceReport report;
  TraceRow& row = report.rows[{"a", "system:serviceaccount:ns:mm-a", "mm/1 (linux/amd64) a"}];
  row.operations["list deployments.apps"] = {3, 0};
  row.operations["list secrets"] = {1, 1};
  row.credential_ids = {"JTI=11111111-x", "JTI=22222222-x", "JTI=33333333-x"};
  report.tokens.push_back({.credential_id = "JTI=11111111-x",
                           .component = "a",
                           .joined = true,
                           .issued_to = "ns/mm-a",
                           .issued_by = "system:serviceaccount:ns:mm",
                           .when = "2026-11-21T03:16:05.005681Z"});
  report.lines = 10;
  report.requests = 4;
  return report;
}

TEST(TraceText, WritesTwoTablesAndTotals) {
  EXPECT_EQ(TraceText(Sample(), false),
            "Requests by component (user ns/name is system:serviceaccount:ns:name)\n"
            "\n"
            "COMPONENT  USERNAME  USER AGENT  CREDENTIAL IDS            VERB RESOURCE          "
            "COUNT  DENIED\n"
            "a          ns/mm-a   mm/1 a      3: 11111111, 22222222, …  list deployments.apps  "
            "    3       -\n"
            "                                                           list secrets           "
            "    1       1\n"
            "\n"
            "Origin of the components' tokens\n"
            "\n"
            "CREDENTIAL ID   COMPONENT  ISSUED TO  ISSUED BY  WHEN\n"
            "JTI=11111111-x  a          ns/mm-a    ns/mm      2026-11-21T03:16:05.005681Z\n"
            "\n"
            "4 requests from the manager in 10 lines; 1 token used by components; no findings\n");
}

TEST(TraceText, ListsFindings) {
  TraceReport report = Sample();
  report.tokens[0].joined = false;
  report.findings = {{"base-write", "one\x1b[0m"}, {"two-tokens", "two"}};
  report.unreadable_lines = 2;
  report.unreadable = {"x.log:3: why", "x.log:4: why"};
  report.unused_tokens = 1;
  report.elsewhere = {{"stag\x1bing", 2}};
  const std::string text = TraceText(report, false);
  EXPECT_THAT(text, HasSubstr("?          ?          no TokenRequest in this log\n"));
  report.issued_left_out = true;
  EXPECT_THAT(TraceText(report, false), HasSubstr("?          unknown: too many TokenRequests\n"));
  EXPECT_THAT(text,
              HasSubstr("\nFOUND base-write (high): one\\x1b[0m\nFOUND two-tokens (high): two\n"
                        "NEXT base-write: revoke base's additional permissions; rbacgen diff "
                        "compares them with the chart's\nNEXT two-tokens: "));
  EXPECT_THAT(
      text,
      HasSubstr("1 issued but unused; 2 lines could not be read (x.log:3: why, …); 2 findings\n"));
  EXPECT_THAT(text,
              HasSubstr("\nNOTE: 2 requests from another manager, in the namespace stag\\x1bing: "
                        "use --namespace=stag\\x1bing to trace it\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(TraceText(report, true), HasSubstr("\x1b[31m1\x1b[0m"));
}

TEST(TraceJson, HasFullNames) {
  TraceReport report = Sample();
  report.findings = {{"masters", "one"}};
  report.elsewhere = {{"staging", 2}};
  EXPECT_EQ(TraceJson(report),
            R"({"elsewhere":{"staging":2},"findings":[{"kind":"masters","next":"give the )"
            R"(manager its own credential, not that of an administrator","severity":"high",)"
            R"("text":"one"}],"identities":[{"component":"a",)"
            R"("credentialIDs":["JTI=11111111-x","JTI=22222222-x","JTI=33333333-x"],)"
            R"("operations":[{"count":3,"denied":0,"target":"deployments.apps","verb":"list"},)"
            R"({"count":1,"denied":1,"target":"secrets","verb":"list"}],)"
            R"("userAgent":"mm/1 (linux/amd64) a","username":"system:serviceaccount:ns:mm-a"}],)"
            R"("lines":10,"requests":4,"tokens":[{"component":"a","credentialID":"JTI=11111111-x",)"
            R"("issuedBy":"system:serviceaccount:ns:mm","issuedTo":"ns/mm-a","joined":true,)"
            R"("when":"2026-11-21T03:16:05.005681Z"}],"unreadableLines":0,"unusedTokens":0})"
            "\n");
}

}  // namespace
}  // namespace mandate::rbacgen
