// Stolen credentials are reported, and normal behaviour of the manager is not.
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

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Lines = std::vector<Line>;

std::string At(int minute) {
  return StrCat("2026-11-23T", minute / 60 < 10 ? "0" : "", minute / 60, ":",
                minute % 60 < 10 ? "0" : "", minute % 60, ":00.000000Z");
}

// The kinds of the findings.
std::vector<std::string> Kinds(const TraceReport& report) {
  std::vector<std::string> kinds;
  for (const TraceFinding& finding : report.findings) kinds.push_back(finding.kind);
  return kinds;
}

// A process of the manager, in its own pod.
struct Process {
  std::string pod, address;
  std::string base = StrCat("JTI=base-", pod);
};

Line At(int minute, const Process& process, Line line) {
  line.time = At(minute);
  line.from = process.address;
  if (line.user == kBase) {
    line.pod = process.pod;
    line.credential = process.base;
  }
  return line;
}

Line Minted(int minute, const Process& process, const std::string& id) {
  return At(minute, process, Mint("a", id));
}
Line Used(int minute, const Process& process, const std::string& id) {
  return At(minute, process, With(&Line::credential, id));
}
Line Leads(int minute, const Process& process) {
  return At(minute, process, ByBase("update", "coordination.k8s.io", "leases", "mandate-manager"));
}

const Process kPod = {"mandate-manager-6d4cf56db-x2x4q", "10.1.0.7"};
const Process kNewPod = {"mandate-manager-79c5b6f8d-k8lzp", "10.1.0.9"};

std::string Asks(const std::string& spec) {
  return StrCat(
      R"("requestObject":{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)",
      R"("metadata":{"creationTimestamp":null},"spec":)", spec,
      R"(,"status":{"token":"","expirationTimestamp":null}},)");
}

struct Case {
  const char* name;
  Lines lines;
  std::vector<std::string> kinds;
  TraceOptions options = {};
};

TEST(TraceTheft, ReportsTheftsButNotRestarts) {
  const auto allow = [](const char* range) {
    TraceOptions options;
    options.addresses = {*AddressRange::Parse(range)};
    return options;
  };
  TraceOptions vault;
  vault.token_audiences = {"vault"};
  const Process thief = {kPod.pod, "10.9.9.9"};
  const Process no_pod = {"", "10.9.9.9"};
  const auto asked = [](const std::string& spec) {
    return With(&Line::body, Asks(spec), Minted(0, kPod, "JTI=a1"));
  };
  const std::string bound =
      R"({"audiences":null,"expirationSeconds":3600,"boundObjectRef":{"kind":"Secret",)"
      R"("apiVersion":"v1","name":"mandate-manager-a"}})";
  const std::string unbound =
      R"({"audiences":null,"expirationSeconds":3600,"boundObjectRef":null})";
  const Case kCases[] = {
      {"a rotation: 80 % of an hour, and a request that waited",
       {Minted(0, kPod, "JTI=a1"), Used(1, kPod, "JTI=a1"), Minted(48, kPod, "JTI=a2"),
        Used(48, kPod, "JTI=a2"), Used(49, kPod, "JTI=a1"), Used(90, kPod, "JTI=a2")},
       {}},
      {"the container starts again in its pod",
       {Leads(0, kPod), Minted(0, kPod, "JTI=a1"), Used(5, kPod, "JTI=a1"),
        Minted(5, kPod, "JTI=a2"), Used(6, kPod, "JTI=a2"), Leads(9, kPod)},
       {}},
      {"another pod takes the Lease, while the first still reads",
       {Leads(0, kPod), Leads(0, kNewPod), Minted(0, kPod, "JTI=a1"), Minted(0, kNewPod, "JTI=a2"),
        Used(1, kNewPod, "JTI=a2"), Used(20, kPod, "JTI=a1"), Leads(20, kNewPod)},
       {}},
      {"a rolling update: a new pod beside the old one",
       {Leads(0, kPod), Minted(0, kPod, "JTI=a1"), Used(10, kPod, "JTI=a1"), Leads(10, kNewPod),
        Minted(10, kNewPod, "JTI=a2"), Used(10, kNewPod, "JTI=a2"), Used(13, kPod, "JTI=a1"),
        Leads(13, kPod), Used(30, kNewPod, "JTI=a2")},
       {}},
      {"a node that starts again: one pod, then another address",
       {Leads(0, kPod), Minted(0, kPod, "JTI=a1"), Used(1, kPod, "JTI=a1"),
        Leads(9, {kPod.pod, "10.1.0.8"}), Minted(9, {kPod.pod, "10.1.0.8"}, "JTI=a2"),
        Used(9, {kPod.pod, "10.1.0.8"}, "JTI=a2")},
       {}},
      {"a pod of two families",
       {Leads(0, kPod), Leads(1, {kPod.pod, "fd00::7"}), Leads(2, kPod), Minted(2, kPod, "JTI=a1"),
        Used(3, {kPod.pod, "fd00::7"}, "JTI=a1")},
       {}},
      {"outside a cluster, on one host, without an address in the log",
       {Minted(0, {"", ""}, "JTI=a1"), Used(1, {"", ""}, "JTI=a1"), Leads(2, {"", ""})},
       {}},

      {"a second token of the same pod, and the first is used on",
       {Minted(0, kPod, "JTI=a1"), Used(1, kPod, "JTI=a1"), Minted(10, kPod, "JTI=a2"),
        Used(10, kPod, "JTI=a2"), Used(30, kPod, "JTI=a1")},
       {"two-tokens"}},
      {"the same outside a cluster, by base's credential",
       {Minted(0, no_pod, "JTI=a1"), Used(1, no_pod, "JTI=a1"), Minted(10, no_pod, "JTI=a2"),
        Used(10, no_pod, "JTI=a2"), Used(30, no_pod, "JTI=a1")},
       {"two-tokens"}},
      {"a component's token elsewhere",
       {Minted(0, kPod, "JTI=a1"), Used(1, kPod, "JTI=a1"), Used(2, thief, "JTI=a1")},
       {"component-address"}},
      {"behind a gateway of several addresses",
       {Minted(0, kPod, "JTI=a1"), Used(1, kPod, "JTI=a1"), Used(2, thief, "JTI=a1")},
       {},
       allow("10.0.0.0/8")},
      {"base's token elsewhere",
       {Leads(0, kPod), Minted(1, thief, "JTI=a1"), Used(1, thief, "JTI=a1"), Leads(2, kPod)},
       {"base-address"}},
      {"base's token of another pod",
       {Leads(0, kPod), Leads(5, {"debug-shell", "10.9.9.9"}), Leads(9, kPod)},
       {"base-pod"}},
      {"base's token of a pod that is named like the manager's, and never leads",
       {Leads(0, kPod), Minted(1, {"mandate-manager-x", "10.9.9.9"}, "JTI=a1"),
        Used(1, {"mandate-manager-x", "10.9.9.9"}, "JTI=a1"),
        Minted(5, {"mandate-manager-x", "10.9.9.9"}, "JTI=a2"), Leads(9, kPod)},
       {"base-pod"}},
      {"base's token of no pod",
       {Leads(0, kPod), Minted(1, no_pod, "JTI=a1"), Leads(9, kPod)},
       {"base-pod"}},
      {"a pod of the component's own ServiceAccount",
       {Minted(0, kPod, "JTI=a1"), With(&Line::pod, std::string("evil"), Used(1, kPod, "JTI=a1"))},
       {"component-pod"}},

      {"a request as the manager's", {asked(unbound)}, {}},
      {"a bound one", {asked(bound)}, {}},
      {"one that is not bound among bound ones", {asked(bound), asked(unbound)}, {"token-request"}},
      {"for 136 years",
       {asked(R"({"audiences":null,"expirationSeconds":4294967296,"boundObjectRef":null})")},
       {"token-request"}},
      {"for another audience",
       {asked(R"({"audiences":["vault"],"expirationSeconds":3600})")},
       {"token-request"}},
      {"for the manager's audience",
       {asked(R"({"audiences":["vault"],"expirationSeconds":3600})")},
       {},
       vault},
      {"bound to another object",
       {asked(R"({"expirationSeconds":3600,"boundObjectRef":{"kind":"Pod","name":"evil"}})")},
       {"token-request"}},
  };
  for (const Case& c : kCases) {
    const TraceReport report = TraceOf(c.lines, c.options);
    EXPECT_EQ(Kinds(report), c.kinds)
        << c.name << ": " << (report.findings.empty() ? "" : report.findings[0].text);
  }
}

TEST(TraceTheft, FindingsNameTheCredentialAndTheAddresses) {
  const Process thief = {kPod.pod, "10.9.9.9"};
  EXPECT_THAT(FindingsOf({Minted(0, kPod, "JTI=a1"), Used(2, thief, "JTI=a1")}),
              ElementsAre(AllOf(
                  HasSubstr("credential id JTI=a1 of a was requested from 10.1.0.7 and used from "
                            "10.9.9.9 (first at 2026-11-23T00:02:00.000000Z, audit id "))));
  EXPECT_THAT(
      FindingsOf({Leads(0, kPod), Leads(1, thief), Leads(2, kPod)}),
      ElementsAre(AllOf(HasSubstr("base's token of the pod mandate-manager-6d4cf56db-x2x4q (UID "
                                  "uid-mandate-manager-6d4cf56db-x2x4q) was used from 10.1.0.7"),
                        HasSubstr(" and from 10.9.9.9 (first at 2026-11-23T00:01"))));
  for (const TraceFindingKind& kind : TraceFindingKinds()) {
    EXPECT_STRNE(kind.next, "") << kind.name;
    EXPECT_THAT(kind.severity, testing::AnyOf(testing::StrEq("high"), testing::StrEq("medium"),
                                              testing::StrEq("low")));
  }
}

// The token was requested before this log, but the log shows base's addresses.
TEST(TraceTheft, ATokenWithoutAnOriginIsComparedWithBase) {
  EXPECT_THAT(Kinds(TraceOf({Leads(0, kPod), Used(1, kPod, "JTI=a1")})),
              ElementsAre("token-origin"));
  EXPECT_THAT(Kinds(TraceOf({Leads(0, kPod), Used(1, {"", "10.9.9.9"}, "JTI=a1")})),
              ElementsAre("token-origin", "component-address"));
}

Line Instances(const std::string& verb, const std::string& body) {
  Line l;
  l.user = "kubernetes-admin";
  l.agent = "kubectl/v1.36.3";
  l.verb = verb;
  l.group = "operators.coreos.com";
  l.resource = "scopeinstances";
  l.ns = "";
  l.code = verb == "create" ? 201 : 200;
  l.body = body;
  return l;
}

Line Binds(const std::string& uid) {
  Line l;
  l.verb = "patch";
  l.group = "rbac.authorization.k8s.io";
  l.resource = "rolebindings";
  l.name = "op-abcd123456";
  l.code = 201;
  l.body = StrCat(R"("requestObject":{"kind":"RoleBinding","metadata":{"labels":{)",
                  R"("operators.coreos.io/scopeInstanceUID":")", uid, R"("}}},)");
  return l;
}

TEST(TraceTheft, ReportsABindingWithoutAnInstanceIfTheLogIsComplete) {
  const Line mint = Mint("a", "JTI=a1");
  const Line list = Instances(
      "list", R"("responseObject":{"kind":"ScopeInstanceList","metadata":{"resourceVersion":"7"},)"
              R"("items":[{"metadata":{"name":"i","uid":"u-1"}}]},)");
  const Line made =
      Instances("create", R"("responseObject":{"kind":"ScopeInstance","metadata":{"uid":"u-2"}},)");
  const Line part = Instances(
      "list", R"("responseObject":{"metadata":{"continue":"x"},"items":[{"metadata":{}}]},)");
  // `kubectl get scopeinstances` requests a Table.
  const auto table = [](const char* rows) {
    return Instances(
        "list", StrCat(R"("responseObject":{"kind":"Table","metadata":{},"rows":)", rows, "},"));
  };
  const Line one = table(R"([{"cells":["i"],"object":{"metadata":{"name":"i","uid":"u-1"}}}])");
  const Line empty = table("[]"), cells = table(R"([{"cells":["i"]}])");
  const Line unseen = Instances("create", "");
  const Line claimed = Instances("patch", R"("requestObject":{"metadata":{"uid":"u-3"}},)");
  const struct {
    const char* name;
    Lines lines;
    std::vector<std::string> kinds;
  } kCases[] = {
      {"one that is listed", {mint, list, Binds("u-1")}, {}},
      {"one that was made", {mint, list, made, Binds("u-2")}, {}},
      {"none", {mint, list, made, Binds("u-3")}, {"orphan-binding"}},
      {"one that a table has", {mint, one, Binds("u-1")}, {}},
      {"none that a table has", {mint, one, Binds("u-3")}, {"orphan-binding"}},
      {"an empty table", {mint, empty, Binds("u-3")}, {"orphan-binding"}},
      {"a table without objects", {mint, cells, Binds("u-3")}, {}},
      {"the client claims it", {mint, list, claimed, Binds("u-3")}, {"orphan-binding"}},
      {"nobody listed them", {mint, made, Binds("u-3")}, {}},
      {"a part of the list", {mint, part, Binds("u-3")}, {}},
      {"one may have been made without a trace", {mint, list, unseen, Binds("u-3")}, {}},
      {"the binding was there", {mint, list, With(&Line::code, 200, Binds("u-3"))}, {}},
  };
  for (const auto& c : kCases) EXPECT_EQ(Kinds(TraceOf(c.lines)), c.kinds) << c.name;
  EXPECT_THAT(FindingsOf({mint, list, Binds("u-3")}),
              ElementsAre(HasSubstr("a created rolebindings mandate-system/op-abcd123456 at ")));
}

}  // namespace
}  // namespace mandate::rbacgen
