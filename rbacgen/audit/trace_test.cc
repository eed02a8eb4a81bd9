#include "rbacgen/audit/trace.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kBase[] = "system:serviceaccount:mandate-system:mandate-manager";
constexpr char kBaseAgent[] = "mandate-manager/1 (linux/amd64)";

// One line of a log, with what a test wants to differ.
struct Line {
  std::string id = "";  // empty: a new one
  std::string stage = "ResponseComplete";
  std::string verb = "list";
  std::string user = "system:serviceaccount:mandate-system:mandate-manager-a";
  std::string agent = "mandate-manager/1 (linux/amd64) a";
  std::string credential = "JTI=a1";
  std::string group = "apps";
  std::string resource = "deployments";
  std::string subresource = "";
  std::string ns = "mandate-system";
  std::string name = "";
  std::string groups = "system:authenticated";
  std::string impersonated = "";
  std::string issued = "";
  std::string message = "";
  int code = 200;
};

std::string Text(const Line& l) {
  static int next_id = 0;
  const std::string user =
      l.user.empty()
          ? "{}"
          : StrCat(R"({"username":")", l.user, R"(","groups":[")", l.groups, R"("])",
                   l.credential.empty()
                       ? ""
                       : StrCat(R"(,"extra":{"authentication.kubernetes.io/credential-id":[")",
                                l.credential, R"("]})"),
                   "}");
  return StrCat(
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":")",
      l.id.empty() ? StrCat("id-", next_id++) : l.id, R"(","stage":")", l.stage,
      R"(","requestURI":"/uri?q=1","verb":")", l.verb, R"(","user":)", user,
      l.impersonated.empty()
          ? ""
          : StrCat(R"(,"impersonatedUser":{"username":")", l.impersonated, R"("})"),
      R"(,"userAgent":")", l.agent, "\"",
      l.resource.empty() ? ""
                         : StrCat(R"(,"objectRef":{"resource":")", l.resource, R"(","apiGroup":")",
                                  l.group, R"(","subresource":")", l.subresource,
                                  R"(","namespace":")", l.ns, R"(","name":")", l.name, R"("})"),
      R"(,"responseStatus":{"message":")", l.message, R"(","code":)", l.code,
      R"(},"requestReceivedTimestamp":"2026-11-21T00:00:00Z")",
      l.issued.empty()
          ? ""
          : StrCat(R"(,"annotations":{"authentication.kubernetes.io/issued-credential-id":")",
                   l.issued, R"("})"),
      "}");
}

Line Mint(const std::string& component, const std::string& id) {
  Line l;
  l.user = kBase;
  l.agent = kBaseAgent;
  l.credential = "JTI=base";
  l.verb = "create";
  l.group = "";
  l.resource = "serviceaccounts";
  l.subresource = "token";
  l.name = "mandate-manager-" + component;
  l.issued = id;
  l.code = 201;
  return l;
}

Line ByBase(const std::string& verb, const std::string& group, const std::string& resource,
            const std::string& name) {
  Line l = Mint("a", "");
  l.verb = verb;
  l.group = group;
  l.resource = resource;
  l.subresource = "";
  l.name = name;
  return l;
}

TraceReport TraceOf(const std::vector<Line>& lines, const TraceOptions& options = {}) {
  Trace trace(options);
  for (const Line& l : lines) EXPECT_TRUE(trace.Add(Text(l)).ok());
  return trace.Finish();
}

// Line() with one member changed.
template <class T>
Line With(T Line::*member, T value, Line line = {}) {
  line.*member = std::move(value);
  return line;
}

TEST(Trace, CountsEachIdentitysRequests) {
  const TraceReport r = TraceOf({Mint("a", "JTI=a1"), Line(), Line(), With(&Line::code, 403),
                                 With(&Line::resource, std::string())});
  EXPECT_THAT(r.findings, IsEmpty());
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

TEST(Trace, OthersAreNotOurs) {
  Line other;
  other.user = "system:serviceaccount:mandate-system:other";
  other.agent = "kubectl/1 mandate-manager/";  // in the line, but not at the beginning
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
  EXPECT_EQ(count({at("ResponseStarted", "watch", "1")}), 1);  // it still goes on
  EXPECT_EQ(count({at("ResponseStarted", "watch", "1"), at("ResponseComplete", "watch", "1")}), 1);
  EXPECT_EQ(count({at("Panic", "list", "1")}), 1);
  EXPECT_EQ(count({at("ResponseComplete", "list", "1"), at("ResponseComplete", "list", "1")}), 1);
  EXPECT_EQ(count({at("ResponseComplete", "list", ""), at("ResponseComplete", "list", "")}), 2);
}

TEST(Trace, JoinsTokensToTheirRequestsInAnyOrder) {
  Line second = With(&Line::credential, std::string("JTI=a2"));
  const TraceReport r =
      TraceOf({second, Line(), Mint("a", "JTI=a1"), Mint("a", "JTI=a2"), Mint("a", "JTI=a3")});
  EXPECT_THAT(r.findings, IsEmpty());
  ASSERT_THAT(r.tokens, SizeIs(2));
  EXPECT_EQ(r.tokens[0].credential_id, "JTI=a1");
  EXPECT_TRUE(r.tokens[0].joined);
  EXPECT_EQ(r.tokens[0].issued_to, "mandate-system/mandate-manager-a");
  EXPECT_EQ(r.tokens[0].issued_by, kBase);
  EXPECT_EQ(r.tokens[0].when, "2026-11-21T00:00:00Z");
  EXPECT_EQ(r.unused_tokens, 1);
}

// Each of these must be found, and only this.
TEST(Trace, FindsWhatMustNotBe) {
  const Line mint = Mint("a", "JTI=a1");
  Line masters;
  masters.user = "kubernetes-admin";
  masters.groups = "system:masters";
  EXPECT_THAT(TraceOf({masters}).findings,
              ElementsAre(HasSubstr("carried the group system:masters: user kubernetes-admin"),
                          HasSubstr("our user agent was used by somebody else")));

  EXPECT_THAT(TraceOf({Line()}).findings,
              ElementsAre("credential id JTI=a1 of a: no TokenRequest in this log issued it"));

  Line by_admin = mint;
  by_admin.user = "kubernetes-admin";
  by_admin.agent = "kubectl/1";
  EXPECT_THAT(TraceOf({by_admin, Line()}).findings,
              ElementsAre("credential id JTI=a1 of a was not issued by base but by "
                          "kubernetes-admin"));

  const Line wrong_agent = With(&Line::agent, std::string("mandate-manager/1 (linux/amd64) b"));
  EXPECT_THAT(TraceOf({mint, wrong_agent, wrong_agent}).findings,
              ElementsAre(AllOf(HasSubstr("disagrees with its user agent, which says b"),
                                HasSubstr("(2 times, first at 2026-11-21T00:00:00Z, audit id "))));

  EXPECT_THAT(TraceOf({mint, With(&Line::agent, std::string("curl/8"))}).findings,
              ElementsAre(HasSubstr("came with a foreign user agent: curl/8")));

  EXPECT_THAT(TraceOf({With(&Line::credential, std::string())}).findings,
              ElementsAre(HasSubstr("came without a credential id")));
}

TEST(Trace, BaseMayMintItsComponentsTokensAndUpdateItsLease) {
  const auto found = [](const Line& line) { return TraceOf({line}).findings; };
  EXPECT_THAT(found(Mint("a", "JTI=a1")), IsEmpty());
  EXPECT_THAT(found(ByBase("update", "coordination.k8s.io", "leases", "mandate-manager")),
              IsEmpty());
  EXPECT_THAT(found(ByBase("get", "", "configmaps", "x")), IsEmpty());
  EXPECT_THAT(found(ByBase("create", "authentication.k8s.io", "selfsubjectreviews", "")),
              IsEmpty());

  const auto more = HasSubstr("base wrote more than its tokens and its lease: ");
  EXPECT_THAT(found(ByBase("create", "coordination.k8s.io", "leases", "mandate-manager")),
              ElementsAre(more));
  EXPECT_THAT(found(ByBase("update", "coordination.k8s.io", "leases", "other")), ElementsAre(more));
  EXPECT_THAT(found(ByBase("patch", "coordination.k8s.io", "leases", "mandate-manager")),
              ElementsAre(more));
  EXPECT_THAT(found(ByBase("create", "", "configmaps", "x")),
              ElementsAre(HasSubstr("create configmaps x")));
  EXPECT_THAT(found(ByBase("create", "", "serviceaccounts", "x")), ElementsAre(more));
  EXPECT_THAT(found(ByBase("delete", "", "pods", "x")), ElementsAre(more));
  EXPECT_THAT(found(ByBase("deletecollection", "", "pods", "")), ElementsAre(more));
  Line foreign_token = Mint("a", "JTI=x");
  foreign_token.name = "default";
  EXPECT_THAT(found(foreign_token), ElementsAre(more));
}

TEST(Trace, ARefusedTokenIsNobodysRequest) {
  Line refused;
  refused.stage = "ResponseStarted";
  refused.user = "";
  refused.code = 401;
  const TraceReport r = TraceOf({refused});
  EXPECT_THAT(r.findings, IsEmpty());
  ASSERT_THAT(r.rows, SizeIs(1));
  EXPECT_EQ(r.rows.begin()->first.component, "a");
  EXPECT_EQ(r.rows.begin()->second.operations.begin()->second.denied, 1);
}

// --identity-mode=impersonate: base's token, the component's name.
TEST(Trace, AnImpersonatedComponentNeedsNoTokenOfItsOwn) {
  Line l;
  l.user = kBase;
  l.credential = "JTI=base";
  l.impersonated = "system:serviceaccount:mandate-system:mandate-manager-a";
  const TraceReport r = TraceOf({l});
  EXPECT_THAT(r.findings, IsEmpty());
  EXPECT_THAT(r.tokens, IsEmpty());
  EXPECT_EQ(r.rows.begin()->first.component, "a");
}

TEST(Trace, WhoMayNotImpersonateIsDeniedAndNoImpostor) {
  Line l;
  l.user = kBase;
  l.credential = "JTI=base";
  l.code = 403;
  l.message = R"(x is forbidden: User \"u\" cannot impersonate-on:serviceaccount:create resource)";
  const TraceReport r = TraceOf({l});
  EXPECT_THAT(r.findings, IsEmpty());
  EXPECT_EQ(r.rows.begin()->first.component, "a");
  EXPECT_EQ(r.rows.begin()->second.operations.begin()->second.denied, 1);
  // What was answered, or refused for another reason, was base itself under a component's name.
  EXPECT_THAT(TraceOf({With(&Line::code, 200, l)}).findings, Not(IsEmpty()));
  EXPECT_THAT(TraceOf({With(&Line::message, std::string("cannot"), l)}).findings, Not(IsEmpty()));
}

TEST(Trace, RefusesWhatIsNoEventAndNamesWhatIsUnreadable) {
  Trace trace((TraceOptions()));
  for (const char* text : {"", "garbage", "{}"}) EXPECT_FALSE(trace.Add(text).ok()) << text;
  for (int i = 1; i <= 7; ++i) trace.AddUnreadable("audit.log", i, "why");
  const TraceReport r = trace.Finish();
  EXPECT_EQ(r.lines, 7);
  EXPECT_EQ(r.unreadable_lines, 7);
  ASSERT_THAT(r.unreadable, SizeIs(5));  // the first few
  EXPECT_EQ(r.unreadable[0], "audit.log:1: why");
}

TEST(Trace, SaysWhenTheLogBeginsAndEnds) {
  Trace trace((TraceOptions()));
  for (const char* time :
       {"2026-11-21T03:16:07Z", "2026-11-21T03:16:05Z", "2026-11-21T03:16:06Z"}) {
    const std::string event =
        StrCat(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","requestReceivedTimestamp":")",
               time, R"("})");
    EXPECT_TRUE(trace.Add(event).ok());
  }
  const TraceReport r = trace.Finish();
  EXPECT_EQ(r.first, "2026-11-21T03:16:05Z");
  EXPECT_EQ(r.last, "2026-11-21T03:16:07Z");
}

// A manager of the same name in another namespace is neither base nor ours.
TEST(Trace, AnotherNamespacesManagerIsNotOurs) {
  Line evil = Mint("a", "JTI=a1");
  evil.user = "system:serviceaccount:evil:mandate-manager";
  EXPECT_THAT(TraceOf({evil, Line()}).findings,
              ElementsAre("credential id JTI=a1 of a was not issued by base but by "
                          "system:serviceaccount:evil:mandate-manager"));

  // Staging's requests are not production's, and nothing amiss.
  std::vector<Line> both = {Mint("a", "JTI=a1"), Line(), Mint("a", "JTI=s1"), Line()};
  both[2].user = "system:serviceaccount:staging:mandate-manager";
  both[2].ns = "staging";
  both[3].user = "system:serviceaccount:staging:mandate-manager-a";
  both[3].credential = "JTI=s1";
  const TraceReport r = TraceOf(both);
  EXPECT_THAT(r.findings, IsEmpty());
  EXPECT_EQ(r.requests, 2);
  EXPECT_THAT(r.tokens, SizeIs(1));
  EXPECT_THAT(r.elsewhere, ElementsAre(std::pair("staging", 2)));
  EXPECT_THAT(r.issued_to, ElementsAre("mandate-system/mandate-manager-a"));

  Line mint_there = Mint("a", "JTI=x");
  mint_there.ns = "staging";
  EXPECT_THAT(TraceOf({mint_there}).findings,
              ElementsAre(HasSubstr("base wrote more than its tokens and its lease")));
}

// What our user agent says is a claim: it uses nobody's rights.
TEST(Trace, ObservesAuthenticatedUsersAlone) {
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

// Every cluster makes thousands of tokens for others, the kubelets' pods.
TEST(Trace, OthersTokensTakeNoRoom) {
  TraceOptions options;
  options.max_credentials = 2;
  std::vector<Line> lines;
  for (int i = 0; i < 5; ++i) {
    Line other = Mint("a", StrCat("JTI=other", i));
    other.user = "system:node:n1";
    other.agent = "kubelet/1";
    other.name = "default";
    lines.push_back(other);
  }
  lines.push_back(Mint("a", "JTI=a1"));
  lines.push_back(Line());
  EXPECT_THAT(TraceOf(lines, options).findings, IsEmpty());
}

// What was not kept may have been there.
TEST(Trace, DoesNotClaimThatALeftOutTokenHasNoOrigin) {
  TraceOptions options;
  options.max_credentials = 2;
  const TraceReport r = TraceOf(
      {Mint("a", "JTI=x"), Mint("a", "JTI=y"), Mint("a", "JTI=y"), Mint("a", "JTI=a1"), Line()},
      options);
  EXPECT_THAT(r.findings, ElementsAre(HasSubstr("more than 2 credential ids")));
  EXPECT_TRUE(r.issued_left_out);
}

// A project that has no manager of ours: its user agents and tokens are its own affair.
TEST(Trace, OthersAreNamedAndNotJudged) {
  TraceOptions options;
  options.others = {{"system:serviceaccount:shop:web", "web"}};
  Line l;
  l.user = "system:serviceaccount:shop:web";
  l.agent = "manager/v0.0.0 (linux/amd64)";
  l.credential = "JTI=kubelet";
  std::vector<std::string> observed;
  Trace trace(options, [&](const AuditEvent& event, const std::string& component,
                           const std::string& bearer) {
    observed.push_back(StrCat(event.verb, " ", component, " ", bearer));
  });
  ASSERT_TRUE(trace.Add(Text(l)).ok());
  const TraceReport r = trace.Finish();
  EXPECT_THAT(r.findings, IsEmpty());
  EXPECT_THAT(r.tokens, IsEmpty());
  EXPECT_THAT(observed, ElementsAre("list web web"));
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
  EXPECT_THAT(r.findings, Contains(HasSubstr("more, of further kinds")));
  EXPECT_THAT(r.findings, Contains(HasSubstr("more than 2 credential ids")));
  EXPECT_EQ(r.requests, 15);
}

}  // namespace
}  // namespace mandate::rbacgen
