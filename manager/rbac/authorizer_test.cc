#include "manager/rbac/authorizer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/rbac/testing/rule_text.h"

namespace mandate::rbac {
namespace {

RoleRef ToRole(std::string name) { return {.kind = "Role", .name = std::move(name)}; }
RoleRef ToClusterRole(std::string name) { return {.kind = "ClusterRole", .name = std::move(name)}; }

Subject Of(std::string kind, std::string name, std::string ns = "") {
  return {.kind = std::move(kind), .api_group = "", .name = std::move(name), .ns = std::move(ns)};
}

Attributes Ask(std::string verb, std::string resource, std::string ns, std::string name = "") {
  Attributes request;
  request.verb = std::move(verb);
  request.resource = std::move(resource);
  request.ns = std::move(ns);
  request.name = std::move(name);
  return request;
}

Attributes AskUrl(std::string path) {
  Attributes request;
  request.verb = "get";
  request.is_resource_request = false;
  request.path = std::move(path);
  return request;
}

Policy Shop() {
  return {
      .roles = {{"shop", "reader", {RuleOf("|pods|-|-|get;list")}},
                {"bank", "reader", {RuleOf("|secrets|-|-|get")}}},
      .cluster_roles = {{"viewer", {RuleOf("|configmaps|-|-|get;list;watch")}},
                        {"scraper", {RuleOf("-|-|-|/metrics|get")}},
                        {"ns-reader", {RuleOf("|namespaces|-|-|get;list")}},
                        {"empty", {}}},
      .role_bindings = {{"shop", "jane-reads", ToRole("reader"), {Of("User", "jane")}},
                        {"shop", "viewers", ToClusterRole("viewer"), {Of("Group", "dev")}},
                        {"shop", "builder", ToRole("reader"), {Of("ServiceAccount", "builder")}},
                        {"shop", "scrape", ToClusterRole("scraper"), {Of("User", "jane")}},
                        {"shop", "own-ns", ToClusterRole("ns-reader"), {Of("User", "jane")}},
                        {"shop", "nothing", ToClusterRole("empty"), {Of("User", "empty")}},
                        {"shop", "dangling", ToRole("absent"), {Of("User", "lost")}}},
      .cluster_role_bindings =
          {{"ops", ToClusterRole("viewer"), {Of("ServiceAccount", "agent", "ops")}},
           {"nobody", ToClusterRole("viewer"), {Of("ServiceAccount", "stray")}},
           {"scrape", ToClusterRole("scraper"), {Of("Group", "system:authenticated")}},
           {"lost-too", ToClusterRole("gone"), {Of("User", "lost")}}},
  };
}

TEST(AuthorizerTest, Decisions) {
  struct Case {
    std::string what;
    UserInfo user;
    Attributes request;
    bool allowed;
  };
  const UserInfo jane = AuthenticatedInfo("jane");
  const UserInfo dev = AuthenticatedInfo("joe", {"dev"});
  const UserInfo agent = ServiceAccountInfo("ops", "agent");
  const UserInfo builder = ServiceAccountInfo("shop", "builder");
  const Case cases[] = {
      {"role in its namespace", jane, Ask("get", "pods", "shop", "p"), true},
      {"role of the same name elsewhere", jane, Ask("get", "secrets", "bank", "s"), false},
      {"a Role is its binding's namespace's", jane, Ask("get", "secrets", "shop", "s"), false},
      {"another namespace", jane, Ask("get", "pods", "bank", "p"), false},
      {"all namespaces", jane, Ask("list", "pods", ""), false},
      {"another user", AuthenticatedInfo("jan"), Ask("get", "pods", "shop"), false},
      {"user names are no groups", AuthenticatedInfo("dev"), Ask("get", "configmaps", "shop"),
       false},
      {"group names are no users", AuthenticatedInfo("x", {"jane"}), Ask("get", "pods", "shop"),
       false},
      {"group", dev, Ask("watch", "configmaps", "shop"), true},
      {"cluster role bound in a namespace, elsewhere", dev, Ask("watch", "configmaps", "bank"),
       false},
      {"cluster role bound in a namespace, everywhere", dev, Ask("watch", "configmaps", ""), false},
      {"cluster binding, a namespace", agent, Ask("list", "configmaps", "bank"), true},
      {"cluster binding, all namespaces", agent, Ask("list", "configmaps", ""), true},
      {"service account of the binding's namespace", builder, Ask("get", "pods", "shop"), true},
      {"its like of another namespace", ServiceAccountInfo("bank", "builder"),
       Ask("get", "pods", "shop"), false},
      {"a user named like it", AuthenticatedInfo("system:serviceaccount:shop:builder"),
       Ask("get", "pods", "shop"), true},
      {"cluster binding without a namespace", ServiceAccountInfo("", "stray"),
       Ask("get", "configmaps", "shop"), false},
      {"nor its plain name", AuthenticatedInfo("stray"), Ask("get", "configmaps", "shop"), false},
      {"URL by cluster binding", dev, AskUrl("/metrics"), true},
      {"URL never by role binding", UserInfo{"jane", {}}, AskUrl("/metrics"), false},
      {"anonymous is not authenticated", AnonymousInfo(), AskUrl("/metrics"), false},
      {"a namespace object, from inside", jane, Ask("get", "namespaces", "shop", "shop"), true},
      {"namespaces are listed from outside", jane, Ask("list", "namespaces", ""), false},
      {"masters", AuthenticatedInfo("root", {"system:masters"}), Ask("delete", "nodes", ""), true},
      {"masters, any URL", UserInfo{"root", {"system:masters"}}, AskUrl("/x"), true},
      {"a role without rules", AuthenticatedInfo("empty"), Ask("get", "pods", "shop"), false},
  };
  const Authorizer authorizer(Shop());
  for (const Case& c : cases) {
    EXPECT_EQ(authorizer.Authorize(c.user, c.request).allowed, c.allowed) << c.what;
  }
}

TEST(AuthorizerTest, ReasonsAreTheServers) {
  const Authorizer authorizer(Shop());
  const auto reason = [&](const UserInfo& user, const Attributes& request) {
    return authorizer.Authorize(user, request).reason;
  };
  EXPECT_EQ(reason(ServiceAccountInfo("ops", "agent"), Ask("list", "configmaps", "")),
            R"(RBAC: allowed by ClusterRoleBinding "ops" of ClusterRole "viewer" )"
            R"(to ServiceAccount "agent/ops")");
  EXPECT_EQ(reason(ServiceAccountInfo("shop", "builder"), Ask("get", "pods", "shop")),
            R"(RBAC: allowed by RoleBinding "builder/shop" of Role "reader" )"
            R"(to ServiceAccount "builder/shop")");
  EXPECT_EQ(reason(AuthenticatedInfo("joe", {"dev"}), Ask("get", "configmaps", "shop")),
            R"(RBAC: allowed by RoleBinding "viewers/shop" of ClusterRole "viewer" )"
            R"(to Group "dev")");
  EXPECT_EQ(reason(AuthenticatedInfo("root", {"system:masters"}), Ask("get", "pods", "")), "");
  EXPECT_EQ(reason(AuthenticatedInfo("nobody"), Ask("get", "pods", "shop")), "");
  // Errors are reported only if no rule allows the request, and each error once.
  EXPECT_EQ(reason(AuthenticatedInfo("lost"), Ask("get", "pods", "bank")),
            R"(RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
  EXPECT_EQ(reason(AuthenticatedInfo("lost"), Ask("get", "pods", "shop")),
            R"(RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, )"
            R"(role.rbac.authorization.k8s.io "absent" not found])");
}

TEST(AuthorizerTest, BrokenReferencesDoNotHideGrants) {
  Policy policy = Shop();
  policy.cluster_role_bindings.push_back({"twice", ToClusterRole("gone"), {Of("User", "jane")}});
  policy.cluster_role_bindings.push_back({"again", ToClusterRole("gone"), {Of("User", "jane")}});
  // A ClusterRoleBinding cannot refer to a Role, not even to one in the request's namespace.
  policy.cluster_role_bindings.push_back({"cross", ToRole("reader"), {Of("User", "jane")}});
  RoleRef odd = ToRole("reader");
  odd.kind = "Group";
  policy.cluster_role_bindings.push_back({"odd", odd, {Of("User", "jane")}});
  const Authorizer authorizer(std::move(policy));
  const UserInfo jane = AuthenticatedInfo("jane");
  EXPECT_TRUE(authorizer.Authorize(jane, Ask("get", "pods", "shop", "p")).allowed);
  const Decision refused = authorizer.Authorize(jane, Ask("get", "secrets", "bank"));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.reason, R"(RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, )"
                            R"(role.rbac.authorization.k8s.io "reader" not found, )"
                            R"(unsupported role reference kind: "Group"])");
}

// The manifest of a Role may omit its namespace, which `kubectl -n` then sets.
TEST(AuthorizerTest, ARoleWithoutANamespaceIsNotAClusterRole) {
  Policy policy = Shop();
  policy.roles.push_back({"", "anywhere", {RuleOf("|secrets|-|-|get")}});
  policy.cluster_role_bindings.push_back({"cross", ToRole("anywhere"), {Of("User", "jane")}});
  const Authorizer authorizer(std::move(policy));
  const Decision decision =
      authorizer.Authorize(AuthenticatedInfo("jane"), Ask("get", "secrets", "bank"));
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.reason, R"(RBAC: role.rbac.authorization.k8s.io "anywhere" not found)");
}

TEST(AuthorizerTest, SubjectsOfUnknownKindAreNobody) {
  const UserInfo user = AuthenticatedInfo("x", {"x"});
  for (const char* kind : {"", "user", "Users", "Robot", "*"}) {
    EXPECT_FALSE(SubjectMatches(Of(kind, "x"), user, "shop")) << kind;
  }
  EXPECT_TRUE(SubjectMatches(Of("User", "x"), user, "shop"));
  EXPECT_FALSE(SubjectMatches(Of("User", "*"), user, "shop"));
  EXPECT_FALSE(SubjectMatches(Of("Group", "*"), user, "shop"));
  // The apiGroup of a subject is ignored, and its namespace counts only for a ServiceAccount.
  EXPECT_TRUE(SubjectMatches({"User", "wrong.group", "x", "elsewhere"}, user, "shop"));
}

TEST(AuthorizerTest, TheReasonNamesTheFirstSubjectThatMatches) {
  Policy policy = Shop();
  policy.cluster_role_bindings = {{"many",
                                   ToClusterRole("viewer"),
                                   {Of("User", "other"), Of("Group", "dev"), Of("User", "joe")}}};
  const Authorizer authorizer(std::move(policy));
  EXPECT_EQ(
      authorizer.Authorize(AuthenticatedInfo("joe", {"dev"}), Ask("get", "configmaps", "")).reason,
      R"(RBAC: allowed by ClusterRoleBinding "many" of ClusterRole "viewer" to Group "dev")");
}

TEST(AuthorizerTest, RulesFor) {
  const Authorizer authorizer(Shop());
  const UserInfo jane = AuthenticatedInfo("jane");
  EXPECT_EQ(authorizer.RulesFor(jane, "").rules, std::vector{RuleOf("-|-|-|/metrics|get")});
  const ApplicableRules local = authorizer.RulesFor(jane, "shop");
  EXPECT_EQ(local.rules,
            (std::vector{RuleOf("-|-|-|/metrics|get"), RuleOf("|pods|-|-|get;list"),
                         RuleOf("-|-|-|/metrics|get"), RuleOf("|namespaces|-|-|get;list")}));
  EXPECT_TRUE(local.errors.empty());
  const ApplicableRules lost = authorizer.RulesFor(AuthenticatedInfo("lost"), "shop");
  EXPECT_EQ(lost.rules, std::vector{RuleOf("-|-|-|/metrics|get")});
  EXPECT_EQ(lost.errors.size(), 2u);
}

TEST(AuthorizerTest, OrderDoesNotMatter) {
  Policy policy = Shop();
  std::reverse(policy.roles.begin(), policy.roles.end());
  std::reverse(policy.cluster_roles.begin(), policy.cluster_roles.end());
  std::reverse(policy.role_bindings.begin(), policy.role_bindings.end());
  std::reverse(policy.cluster_role_bindings.begin(), policy.cluster_role_bindings.end());
  const Authorizer forward(Shop());
  const Authorizer backward(std::move(policy));
  for (const char* user : {"jane", "lost", "empty", "system:serviceaccount:ops:agent"}) {
    for (const char* resource : {"pods", "secrets", "configmaps", "namespaces"}) {
      for (const char* ns : {"", "shop", "bank"}) {
        const Attributes request = Ask("get", resource, ns, "shop");
        EXPECT_EQ(forward.Authorize(AuthenticatedInfo(user), request).allowed,
                  backward.Authorize(AuthenticatedInfo(user), request).allowed)
            << user << " " << resource << " " << ns;
      }
    }
  }
}

TEST(AuthorizerTest, AnEmptyPolicyAllowsMastersOnly) {
  const Authorizer authorizer(Policy{});
  EXPECT_FALSE(authorizer.Authorize(AuthenticatedInfo("jane"), AskUrl("/healthz")).allowed);
  EXPECT_TRUE(
      authorizer.Authorize(AuthenticatedInfo("a", {"system:masters"}), AskUrl("/")).allowed);
}

}  // namespace
}  // namespace mandate::rbac
