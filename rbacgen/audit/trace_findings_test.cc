// The findings of a trace, and requests without findings.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/audit/testing_lines.h"
#include "rbacgen/audit/trace.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Each case must give exactly the listed findings.
TEST(TraceFindings, ReportsEachKind) {
  const Line mint = Mint("a", "JTI=a1");
  Line masters;
  masters.user = "kubernetes-admin";
  masters.groups = "system:masters";
  EXPECT_THAT(FindingsOf({masters}),
              ElementsAre(HasSubstr("had the group system:masters: user kubernetes-admin"),
                          HasSubstr("another user sent the manager's user agent")));

  EXPECT_THAT(FindingsOf({Line()}),
              ElementsAre("credential id JTI=a1 of a: no TokenRequest in this log issued it"));

  Line by_admin = mint;
  by_admin.user = "kubernetes-admin";
  by_admin.agent = "kubectl/1";
  EXPECT_THAT(FindingsOf({by_admin, Line()}),
              ElementsAre("credential id JTI=a1 of a was not issued by base but by "
                          "kubernetes-admin"));

  const Line wrong_agent = With(&Line::agent, std::string("mandate-manager/1 (linux/amd64) b"));
  EXPECT_THAT(FindingsOf({mint, wrong_agent, wrong_agent}),
              ElementsAre(AllOf(HasSubstr("does not match its user agent, which names b"),
                                HasSubstr("(2 times, first at 2026-11-21T00:00:00Z, audit id "))));

  EXPECT_THAT(FindingsOf({mint, With(&Line::agent, std::string("curl/8"))}),
              ElementsAre(HasSubstr("sent another user agent: curl/8")));

  EXPECT_THAT(FindingsOf({With(&Line::credential, std::string())}),
              ElementsAre(HasSubstr("sent no credential id")));
}

TEST(TraceFindings, BaseMayMintItsComponentsTokensAndHoldItsLease) {
  const auto found = [](const Line& line) { return FindingsOf({line}); };
  EXPECT_THAT(found(Mint("a", "JTI=a1")), IsEmpty());
  EXPECT_THAT(found(ByBase("update", "coordination.k8s.io", "leases", "mandate-manager")),
              IsEmpty());
  EXPECT_THAT(found(ByBase("patch", "coordination.k8s.io", "leases", "mandate-manager")),
              IsEmpty());
  EXPECT_THAT(found(ByBase("get", "", "configmaps", "x")), IsEmpty());
  EXPECT_THAT(found(ByBase("create", "authentication.k8s.io", "selfsubjectreviews", "")),
              IsEmpty());

  const auto more =
      HasSubstr("base wrote an object other than the components' tokens and its Lease: ");
  EXPECT_THAT(found(ByBase("create", "coordination.k8s.io", "leases", "mandate-manager")),
              ElementsAre(more));
  EXPECT_THAT(found(ByBase("update", "coordination.k8s.io", "leases", "other")), ElementsAre(more));
  EXPECT_THAT(found(ByBase("patch", "coordination.k8s.io", "leases", "other")), ElementsAre(more));
  EXPECT_THAT(found(ByBase("delete", "coordination.k8s.io", "leases", "mandate-manager")),
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

TEST(TraceFindings, ARequestWithARejectedTokenIsNotAFinding) {
  Line refused;
  refused.stage = "ResponseStarted";
  refused.user = "";
  refused.code = 401;
  const TraceReport r = TraceOf({refused});
  EXPECT_THAT(Texts(r), IsEmpty());
  ASSERT_THAT(r.rows, SizeIs(1));
  EXPECT_EQ(r.rows.begin()->first.component, "a");
  EXPECT_EQ(r.rows.begin()->second.operations.begin()->second.denied, 1);
}

// With --identity-mode=impersonate, requests have base's token and the component's user.
TEST(TraceFindings, AnImpersonatedComponentNeedsNoTokenOfItsOwn) {
  Line l;
  l.user = kBase;
  l.credential = "JTI=base";
  l.impersonated = "system:serviceaccount:mandate-system:mandate-manager-a";
  const TraceReport r = TraceOf({l});
  EXPECT_THAT(Texts(r), IsEmpty());
  EXPECT_THAT(r.tokens, IsEmpty());
  EXPECT_EQ(r.rows.begin()->first.component, "a");
}

// The four-way report checks whether the component has the right to impersonate.
TEST(TraceFindings, AComponentThatImpersonatesCountsAsItself) {
  const std::vector<Line> mint = {Mint("a", "JTI=a1"), Mint("b", "JTI=b1")};
  for (const char* whom : {"jane", "system:serviceaccount:mandate-system:mandate-manager-b",
                           "system:serviceaccount:shop:web"}) {
    const Line l = With(&Line::impersonated, std::string(whom));
    const TraceReport r = TraceOf({mint[0], l});
    EXPECT_THAT(Texts(r), IsEmpty()) << whom;
    EXPECT_EQ(r.rows.begin()->first.username, whom);
    // The user agent of another component is still reported, with the component's own user.
    EXPECT_THAT(FindingsOf({mint[0], With(&Line::agent, std::string(kBaseAgent) + " b", l)}),
                ElementsAre(HasSubstr("user system:serviceaccount:mandate-system:mandate-manager-a "
                                      "does not match its user agent, which names b")))
        << whom;
  }
  EXPECT_EQ(TraceOf({With(&Line::impersonated, std::string("jane"))}).rows.begin()->first.component,
            "a");
}

TEST(TraceFindings, ReportsThatBaseImpersonatesAnotherUser) {
  Line l;
  l.user = kBase;
  l.agent = kBaseAgent;
  l.credential = "JTI=base";
  l.impersonated = "jane";
  const TraceReport r = TraceOf({l});
  ASSERT_THAT(r.findings, SizeIs(1));
  EXPECT_EQ(r.findings[0].kind, "base-impersonates");
  EXPECT_THAT(r.findings[0].text, HasSubstr("base acted as jane, which is not a component"));
}

TEST(TraceFindings, ADeniedImpersonationIsNotAFinding) {
  Line l;
  l.user = kBase;
  l.credential = "JTI=base";
  l.code = 403;
  l.message = R"(x is forbidden: User \"u\" cannot impersonate-on:serviceaccount:create resource)";
  const TraceReport r = TraceOf({l});
  EXPECT_THAT(Texts(r), IsEmpty());
  EXPECT_EQ(r.rows.begin()->first.component, "a");
  EXPECT_EQ(r.rows.begin()->second.operations.begin()->second.denied, 1);
  // A request that was answered, or denied for another reason, was sent as base itself with a
  // component's user agent.
  EXPECT_THAT(FindingsOf({With(&Line::code, 200, l)}), Not(IsEmpty()));
  EXPECT_THAT(FindingsOf({With(&Line::message, std::string("cannot"), l)}), Not(IsEmpty()));
}

// A manager with the same name in another namespace is a different manager.
TEST(TraceFindings, AManagerInAnotherNamespaceIsNotThisManager) {
  Line evil = Mint("a", "JTI=a1");
  evil.user = "system:serviceaccount:evil:mandate-manager";
  EXPECT_THAT(FindingsOf({evil, Line()}),
              ElementsAre("credential id JTI=a1 of a was not issued by base but by "
                          "system:serviceaccount:evil:mandate-manager"));

  // Requests of staging's manager do not count for production, and are not findings.
  std::vector<Line> both = {Mint("a", "JTI=a1"), Line(), Mint("a", "JTI=s1"), Line()};
  both[2].user = "system:serviceaccount:staging:mandate-manager";
  both[2].ns = "staging";
  both[3].user = "system:serviceaccount:staging:mandate-manager-a";
  both[3].credential = "JTI=s1";
  const TraceReport r = TraceOf(both);
  EXPECT_THAT(Texts(r), IsEmpty());
  EXPECT_EQ(r.requests, 2);
  EXPECT_THAT(r.tokens, SizeIs(1));
  EXPECT_THAT(r.elsewhere, ElementsAre(std::pair("staging", 2)));
  EXPECT_THAT(r.issued_to, ElementsAre("mandate-system/mandate-manager-a"));

  Line mint_there = Mint("a", "JTI=x");
  mint_there.ns = "staging";
  EXPECT_THAT(FindingsOf({mint_there}),
              ElementsAre(HasSubstr(
                  "base wrote an object other than the components' tokens and its Lease")));
}

// In every cluster, kubelets request thousands of tokens for pods.
TEST(TraceFindings, TokensOfOtherUsersAreNotKept) {
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
  EXPECT_THAT(FindingsOf(lines, options), IsEmpty());
}

// The log may have the TokenRequest, although it was not kept.
TEST(TraceFindings, ATokenWhoseRequestWasNotKeptIsNotAFinding) {
  TraceOptions options;
  options.max_credentials = 2;
  const TraceReport r = TraceOf(
      {Mint("a", "JTI=x"), Mint("a", "JTI=y"), Mint("a", "JTI=y"), Mint("a", "JTI=a1"), Line()},
      options);
  EXPECT_THAT(Texts(r), ElementsAre(HasSubstr("more than 2 credential ids")));
  EXPECT_TRUE(r.issued_left_out);
}

// A project without a Mandate manager: the trace does not check its user agents and tokens.
TEST(TraceFindings, UserAgentsAndTokensOfOthersAreNotChecked) {
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
  EXPECT_THAT(Texts(r), IsEmpty());
  EXPECT_THAT(r.tokens, IsEmpty());
  EXPECT_THAT(observed, ElementsAre("list web web"));
}

}  // namespace
}  // namespace mandate::rbacgen
