#include "rbacgen/ask/blast_radius.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/world/builtin_policy.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A role `name` with these rules, bound to the ServiceAccount n/<to>, in `ns` or everywhere.
std::string Grant(std::string_view name, std::string_view ns, std::string_view rules,
                  std::string_view to) {
  const std::string where = ns.empty() ? "" : StrCat(", namespace: ", ns);
  const std::string kind = ns.empty() ? "ClusterRole" : "Role";
  return StrCat("---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ", kind,
                ", metadata: {name: ", name, where, "}, rules: [", rules, "]}\n",
                "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ", kind,
                "Binding, metadata: {name: ", name, where, "}, roleRef: {kind: ", kind,
                ", name: ", name, "}, subjects: [{kind: ServiceAccount, name: ", to,
                ", namespace: n}]}\n");
}
std::string Rule(std::string_view group, std::string_view resources, std::string_view verbs,
                 std::string_view names = "") {
  return StrCat("{apiGroups: ['", group, "'], resources: [", resources, "], verbs: [", verbs, "]",
                names.empty() ? "" : StrCat(", resourceNames: [", names, "]"), "}");
}
constexpr char kRbac[] = "rbac.authorization.k8s.io";

struct Case {
  std::string name;
  std::string yaml;  // the start is n/start
  std::set<std::string> reached;
  bool everything = false;
};

// The rest of every case's world: n/other may get secrets everywhere, and m/far exists.
std::string Others() {
  return Grant("other", "", Rule("", "secrets", "get"), "other") +
         "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: far, namespace: m}}\n";
}

std::vector<Case> Cases() {
  const auto start = [](std::string_view ns, std::string_view rules) {
    return Grant("start", ns, rules, "start");
  };
  const std::string bindings = Rule(kRbac, "clusterrolebindings", "create");
  return {
      {"nothing", start("", Rule("", "pods", "get, list, watch, delete")), {"n/start"}},
      {"a token by name",
       start("n", Rule("", "serviceaccounts/token", "create", "other")),
       {"n/start", "n/other"}},
      {"a token of another name",
       start("n", Rule("", "serviceaccounts/token", "create", "nobody")),
       {"n/start"}},
      {"tokens of another namespace",
       start("m", Rule("", "serviceaccounts/token", "create")),
       {"n/start", "m/far"}},
      {"any token",
       start("", Rule("", "serviceaccounts/token", "create")),
       {"n/start", "n/other", "m/far"}},
      {"writing ServiceAccounts is no token",
       start("", Rule("", "serviceaccounts", "create")),
       {"n/start"}},
      {"pods", start("n", Rule("", "pods", "create")), {"n/start", "n/other"}},
      {"deployments", start("m", Rule("apps", "deployments", "patch")), {"n/start", "m/far"}},
      {"exec", start("m", Rule("", "pods/exec", "create")), {"n/start", "m/far"}},
      {"nodes/proxy", start("", Rule("", "nodes/proxy", "get")), {"n/start", "n/other", "m/far"}},
      {"token Secrets: create alone", start("m", Rule("", "secrets", "create")), {"n/start"}},
      {"token Secrets", start("m", Rule("", "secrets", "create, get")), {"n/start", "m/far"}},
      {"impersonates an account",
       start("m", Rule("", "serviceaccounts", "impersonate")),
       {"n/start", "m/far"}},
      {"impersonates a user",
       start("", Rule("", "users", "impersonate", "'system:serviceaccount:m:far'")),
       {"n/start", "m/far"}},
      {"impersonates system:masters",
       start("", Rule("", "groups", "impersonate")),
       {"n/start", "the group system:masters"},
       true},
      {"in two steps",
       start("n", Rule("", "serviceaccounts/token", "create", "mid")) +
           Grant("mid", "m", Rule("", "pods", "create"), "mid"),
       {"n/start", "n/mid", "m/far"}},
      {"bind without writing bindings",
       start("", Rule(kRbac, "clusterroles", "bind")),
       {"n/start"}},
      {"bind anything",
       start("", Rule(kRbac, "clusterroles", "bind") + ", " + bindings),
       {"n/start", "everything"},
       true},
      {"bind one role",
       start("", Rule(kRbac, "clusterroles", "bind", "other") + ", " + bindings),
       {"n/start", "the ClusterRole other"}},
      {"bind in one namespace",
       start("m", Rule(kRbac, "clusterroles", "bind, get", "other") + ", " +
                      Rule(kRbac, "rolebindings", "create")),
       {"n/start", "the ClusterRole other in m"}},
      {"escalate without writing roles",
       start("", Rule(kRbac, "clusterroles", "escalate")),
       {"n/start"}},
      {"escalate of a role that is its own",
       start("", Rule(kRbac, "clusterroles", "escalate, patch", "start")),
       {"n/start", "everything"},
       true},
      {"escalate of a role that is not its own",
       start("", Rule(kRbac, "clusterroles", "escalate, patch", "other")),
       {"n/start"}},
      {"escalate of a Role in a namespace that is its own",
       start("m", Rule(kRbac, "roles", "escalate, patch", "start")),
       {"n/start", "m/far", "everything in m"}},
      {"escalate of a Role of that name in another namespace",
       start("m", Rule("", "pods", "get")) +
           Grant("there", "n", Rule(kRbac, "roles", "escalate, patch", "start"), "start"),
       {"n/start"}},
      {"escalate of a role whose name is part of its own",
       start("", Rule(kRbac, "clusterroles", "escalate, patch", "star")),
       {"n/start"}},
      {"escalate of a ClusterRole that it has in one namespace",
       start("", Rule(kRbac, "clusterroles", "escalate, patch", "there")) +
           StrCat(
               "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: "
               "{name: there}, rules: []}\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: "
               "RoleBinding, metadata: {name: there, namespace: m}, roleRef: {kind: ClusterRole, "
               "name: there}, subjects: [{kind: ServiceAccount, name: start, namespace: n}]}\n"),
       {"n/start", "m/far", "everything in m"}},
      {"patching a deployment by name",
       start("m", Rule("apps", "deployments", "patch", "web")),
       {"n/start", "m/far"}},
      {"creating a deployment by name, which has none yet",
       start("m", Rule("apps", "deployments", "create", "web")),
       {"n/start"}},
      {"exec by name", start("m", Rule("", "pods/exec", "create", "web")), {"n/start", "m/far"}},
      {"an image of a pod", start("m", Rule("", "pods", "update", "web")), {"n/start", "m/far"}},
      {"images of pods", start("m", Rule("", "pods", "patch")), {"n/start", "m/far"}},
      {"nodes/proxy by name",
       start("", Rule("", "nodes/proxy", "get", "node-1")),
       {"n/start", "n/other", "m/far"}},
      {"token Secrets: the one of a name",
       start("m", Rule("", "secrets", "create") + ", " + Rule("", "secrets", "get", "mine")),
       {"n/start", "m/far"}},
      {"a binding by name, and its role",
       start("", Rule(kRbac, "clusterrolebindings", "patch", "other") + ", " +
                     Rule(kRbac, "clusterroles", "bind")),
       {"n/start", "the ClusterRole other"}},
      {"a binding by name, and another role",
       start("", Rule(kRbac, "clusterrolebindings", "patch", "other") + ", " +
                     Rule(kRbac, "clusterroles", "bind", "start")),
       {"n/start"}},
      {"a binding by a name that is not known here",
       start("m", Rule(kRbac, "rolebindings", "update", "elsewhere") + ", " +
                      Rule(kRbac, "clusterroles", "bind", "other")),
       {"n/start", "the ClusterRole other in m"}},
      {"escalate and rewriting of Roles everywhere, of which none that is known is its own",
       start("", Rule(kRbac, "roles", "escalate, update")),
       {"n/start", "n/other", "m/far", "everything in m", "everything in n"}},
      {"escalate and making of Roles, and binding them",
       start("", Rule(kRbac, "roles", "escalate, create, bind") + ", " +
                     Rule(kRbac, "rolebindings", "create")),
       {"n/start", "n/other", "m/far", "everything in m", "everything in n"}},
      {"escalate and making of Roles, without binding them",
       start("", Rule(kRbac, "roles", "escalate, create, bind")),
       {"n/start"}},
      {"escalate in one namespace",
       start("m", Rule(kRbac, "roles", "escalate, update")),
       {"n/start", "m/far", "everything in m"}},
  };
}

TEST(BlastRadius, FollowsEveryWayToMoreRights) {
  for (const Case& c : Cases()) {
    const World world = WorldOf(Others() + c.yaml);
    const BlastRadius radius = ComputeBlastRadius(world, {rbac::ServiceAccountInfo("n", "start")});
    std::set<std::string> reached;
    for (const Step& s : radius.steps) reached.insert(s.gained);
    EXPECT_EQ(reached, c.reached) << c.name;
    EXPECT_EQ(radius.everything, c.everything) << c.name;
  }
}

TEST(BlastRadius, EverythingReplacesTheOtherRights) {
  const std::string bind =
      Rule(kRbac, "clusterroles", "bind") + ", " + Rule(kRbac, "clusterrolebindings", "create");
  const World world = WorldOf(
      Others() +
      Grant("start", "m", Rule("", "pods", "get") + ", {nonResourceURLs: [/metrics], verbs: [get]}",
            "start") +
      Grant("binder", "", bind, "start"));
  const BlastRadius radius = ComputeBlastRadius(world, {rbac::ServiceAccountInfo("n", "start")});
  EXPECT_TRUE(radius.everything);
  EXPECT_EQ(radius.rights, (RightsByNamespace{{"", {rbac::Rule{{"*"}, {"*"}, {"*"}, {}, {}}}}}));
}

TEST(BlastRadius, ListsEachStepWithItsRight) {
  const World world =
      WorldOf(Others() +
              Grant("start", "n", Rule("", "serviceaccounts/token", "create", "other"), "start"));
  const BlastRadius radius = ComputeBlastRadius(world, {rbac::ServiceAccountInfo("n", "start")});
  ASSERT_EQ(radius.steps.size(), 2);
  EXPECT_EQ(radius.steps[1].gained, "n/other");
  EXPECT_EQ(radius.steps[1].from, "n/start");
  EXPECT_EQ(radius.steps[1].how, "create serviceaccounts/token named other in n");
  EXPECT_EQ(radius.rights.at("")[0], (rbac::Rule{{"get"}, {""}, {"secrets"}, {}, {}}));
}

// Only the rights that Kubernetes itself gives every user are omitted.
TEST(BlastRadius, IncludesRightsThatTheInputGrantsToAllUsers) {
  const std::string start = Grant("start", "", Rule("", "pods", "get"), "start");
  std::string everybodys = Grant("r", "", Rule("", "secrets", "get"), "X");
  const std::string account = "kind: ServiceAccount, name: X, namespace: n";
  everybodys.replace(everybodys.find(account), account.size(),
                     "kind: Group, name: 'system:authenticated'");
  std::string own_discovery = everybodys;
  for (size_t at; (at = own_discovery.find("name: r")) != own_discovery.npos;) {
    own_discovery.replace(at, 7, "name: 'system:discovery'");
  }
  for (const std::string& grant : {everybodys, own_discovery}) {
    World world = WorldOf(start + grant);
    AddBuiltinPolicy(&world);
    const BlastRadius radius = ComputeBlastRadius(world, {rbac::ServiceAccountInfo("n", "start")});
    EXPECT_EQ(radius.rights,
              (RightsByNamespace{{"", {rbac::Rule{{"get"}, {""}, {"pods", "secrets"}, {}, {}}}}}))
        << grant;
  }
}

TEST(BlastRadius, BaseOfATreeReachesEveryComponent) {
  const World world = TreeOf(
      "// +mandate:component:name=a\n// +kubebuilder:rbac:groups=apps,resources=x,verbs=get\n"
      "// +mandate:component:name=b\n// +kubebuilder:rbac:groups=apps,resources=y,verbs=get\n");
  const auto base = FindUser(world, "base", {});
  ASSERT_TRUE(base.ok());
  const BlastRadius radius = ComputeBlastRadius(world, {*base});
  std::vector<std::string> reached;
  for (const Step& s : radius.steps) reached.push_back(s.gained);
  EXPECT_THAT(reached, ElementsAre("base", "a", "b"));
  EXPECT_FALSE(radius.everything);
}

}  // namespace
}  // namespace mandate::rbacgen
