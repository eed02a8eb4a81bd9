#include "rbacgen/audit/trace.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/audit/testing_lines.h"

namespace mandate::rbacgen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Trace, CountsEachIdentitysRequests) {
  const TraceReport r = TraceOf({Mint("a", "JTI=a1"), Line(), Line(), With(&Line::code, 403),
                                 With(&Line::resource, std::string())});
  EXPECT_THAT(Texts(r), IsEmpty());
  EXPECT_EQ(r.requests, 5);
  EXPECT_EQ(r.lines, 5);
  ASSERT_THAT(r.rows, SizeIs(2));
  const auto& [key, row] = *r.rows.begin();
  EXPECT_EQ(key.component, "a");
  EXPECT_EQ(key.username, "system:serviceaccount:mandate-system:mandate-manager-a");
  ASSERT_THAT(row.operations, SizeIs(2));
  EXPECT_EQ(row.operations.at("list deployments.apps").count, 3);
  EXPECT_EQ(row.operations.at("list deployments.apps").denied, 1);
  EXPECT_EQ(row.operations.at("list /uri").count, 1);
  EXPECT_THAT(row.credential_ids, ElementsAre("JTI=a1"));
  const auto& [base_key, base] = *r.rows.rbegin();
  EXPECT_EQ(base_key.component, "base");
  EXPECT_EQ(base.operations.at("create serviceaccounts/token").count, 1);
}

TEST(Trace, IgnoresOtherUsers) {
  Line other;
  other.user = "system:serviceaccount:mandate-system:other";
  other.agent = "kubectl/1 mandate-manager/";  // the prefix is not at the beginning
  const TraceReport r = TraceOf({other});
  EXPECT_EQ(r.requests, 0);
  EXPECT_EQ(r.lines, 1);
  EXPECT_THAT(r.rows, IsEmpty());
}

TEST(Trace, ARequestCountsOnce) {
  const auto count = [](const std::vector<Line>& lines) { return TraceOf(lines).requests; };
  const auto at = [](const char* stage, const char* verb, const char* id) {
    Line l;
    l.stage = stage;
    l.verb = verb;
    l.id = id;
    return l;
  };
  EXPECT_EQ(count({at("RequestReceived", "list", "1"), at("ResponseComplete", "list", "1")}), 1);
  EXPECT_EQ(count({at("ResponseStarted", "get", "1"), at("ResponseComplete", "get", "1")}), 1);
  EXPECT_EQ(count({at("ResponseStarted", "get", "1")}), 0);
  EXPECT_EQ(count({at("ResponseStarted", "watch", "1")}), 1);  // the watch is still open
  EXPECT_EQ(count({at("ResponseStarted", "watch", "1"), at("ResponseComplete", "watch", "1")}), 1);
  EXPECT_EQ(count({at("Panic", "list", "1")}), 1);
  EXPECT_EQ(count({at("ResponseComplete", "list", "1"), at("ResponseComplete", "list", "1")}), 1);
  EXPECT_EQ(count({at("ResponseComplete", "list", ""), at("ResponseComplete", "list", "")}), 2);
}

TEST(Trace, JoinsTokensToTheirRequestsInAnyOrder) {
  Line second = With(&Line::credential, std::string("JTI=a2"));
  const TraceReport r =
      TraceOf({second, Line(), Mint("a", "JTI=a1"), Mint("a", "JTI=a2"), Mint("a", "JTI=a3")});
  EXPECT_THAT(Texts(r), IsEmpty());
  ASSERT_THAT(r.tokens, SizeIs(2));
  EXPECT_EQ(r.tokens[0].credential_id, "JTI=a1");
  EXPECT_TRUE(r.tokens[0].joined);
  EXPECT_EQ(r.tokens[0].issued_to, "mandate-system/mandate-manager-a");
  EXPECT_EQ(r.tokens[0].issued_by, kBase);
  EXPECT_EQ(r.tokens[0].when, "2026-11-21T00:00:00Z");
  EXPECT_EQ(r.unused_tokens, 1);
}

TEST(Trace, RejectsInvalidEventsAndListsUnreadableLines) {
  Trace trace((TraceOptions()));
  for (const char* text : {"", "garbage", "{}"}) EXPECT_FALSE(trace.Add(text).ok()) << text;
  for (int i = 1; i <= 7; ++i) trace.AddUnreadable("audit.log", i, "why");
  const TraceReport r = trace.Finish();
  EXPECT_EQ(r.lines, 7);
  EXPECT_EQ(r.unreadable_lines, 7);
  ASSERT_THAT(r.unreadable, SizeIs(5));  // only the first few are kept
  EXPECT_EQ(r.unreadable[0], "audit.log:1: why");
}

TEST(Trace, ReportsTheFirstAndLastTime) {
  Trace trace((TraceOptions()));
  for (const char* time :
       {"2026-11-21T03:16:07Z", "yesterday", "2026-11-21T03:16:05Z", "2026-11-21T03:16:06Z", "",
        "2026-11-21T03:16:99", "0000-00-00T00:00:0xZ"}) {
    const std::string event =
        StrCat(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","requestReceivedTimestamp":")",
               time, R"("})");
    EXPECT_TRUE(trace.Add(event).ok());
  }
  const TraceReport r = trace.Finish();
  EXPECT_EQ(r.first, "2026-11-21T03:16:05Z");
  EXPECT_EQ(r.last, "2026-11-21T03:16:07Z");
}

// The user agent is only a claim: it does not count as a use of rights.
TEST(Trace, ObserverGetsComponentsOfAuthenticatedUsersOnly) {
  std::vector<std::string> observed;
  Trace trace(
      {}, [&](const AuditEvent& event, const std::string& component, const std::string& bearer) {
        observed.push_back(StrCat(event.username, "|", component, "|", bearer));
      });
  Line stranger, refused, impersonated;
  stranger.user = "jane";
  refused.user = "";
  refused.code = 401;
  impersonated.user = kBase;
  impersonated.impersonated = "jane";
  for (const Line& l : {stranger, refused, impersonated}) EXPECT_TRUE(trace.Add(Text(l)).ok());
  EXPECT_THAT(observed, ElementsAre("jane||", "||", StrCat(kBase, "||base")));
  EXPECT_EQ(trace.Finish().requests, 3);
}

// Each request has another credential id, as with a thief who requests many tokens, or a log of
// years.
TEST(Trace, KeepsALimitedNumberOfCredentialIds) {
  TraceOptions options;
  options.max_credentials = 3;
  options.max_findings = 2;
  std::vector<Line> lines;
  for (int i = 0; i < 9; ++i) {
    lines.push_back(With(&Line::credential, StrCat("JTI=", i)));
    // The first few ids again, with other user agents, so that each has a row of its own.
    lines.push_back(With(&Line::agent, StrCat("mandate-manager/", i, " (linux/amd64) a"),
                         With(&Line::credential, StrCat("JTI=", i % 3))));
  }
  const TraceReport r = TraceOf(lines, options);
  EXPECT_EQ(r.requests, 18);
  EXPECT_THAT(r.tokens, SizeIs(3));
  size_t kept = 0;
  for (const auto& [key, row] : r.rows) kept += row.credential_ids.size();
  EXPECT_LE(kept, 6u);
  EXPECT_THAT(Texts(r), Contains(HasSubstr("more than 3 credential ids")));
  EXPECT_THAT(Texts(r), Contains("omitted findings: 1"));
  EXPECT_LE(Texts(r).size(), 4u);
}

TEST(Trace, LongTextsAreCut) {
  const TraceReport r =
      TraceOf({With(&Line::credential, std::string(100'000, 'j')),
               With(&Line::agent, StrCat("mandate-manager/", std::string(100'000, 'x')))});
  for (const auto& [key, row] : r.rows) {
    EXPECT_LE(key.user_agent.size(), 512u);
    for (const std::string& id : row.credential_ids) EXPECT_LE(id.size(), 512u);
  }
}

TEST(Trace, EveryTableHasABound) {
  TraceOptions options;
  options.max_identities = 2;
  options.max_operations = 2;
  options.max_credentials = 2;
  options.max_findings = 2;
  std::vector<Line> lines;
  for (int i = 0; i < 5; ++i) {
    Line l;
    l.agent = StrCat("mandate-manager/", i, " (linux/amd64) b", i);
    l.credential = StrCat("JTI=", i);
    l.issued = "";
    lines.push_back(l);
    lines.push_back(With(&Line::resource, StrCat("r", i)));
    lines.push_back(Mint("a", StrCat("JTI=", i)));
  }
  const TraceReport r = TraceOf(lines, options);
  EXPECT_THAT(r.rows, SizeIs(3));
  EXPECT_TRUE(r.rows.contains({"(others)", "(others)", "(others)"}));
  for (const auto& [key, row] : r.rows) EXPECT_LE(row.operations.size(), 3u);
  EXPECT_LE(r.tokens.size(), 2u);
  EXPECT_THAT(Texts(r), Contains(HasSubstr("omitted findings: ")));
  EXPECT_THAT(Texts(r), Contains(HasSubstr("more than 2 credential ids")));
  EXPECT_EQ(r.requests, 15);
}

}  // namespace
}  // namespace mandate::rbacgen
