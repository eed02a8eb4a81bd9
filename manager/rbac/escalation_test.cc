#include "manager/rbac/escalation.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/rbac/testing/rule_text.h"

namespace mandate::rbac {
namespace {

using Rules = std::vector<Rule>;

std::vector<Subject> User(std::string name) {
  return {{.kind = "User", .api_group = kRbacGroup, .name = std::move(name), .ns = ""}};
}

RoleRef Of(std::string kind, std::string name) {
  return {.kind = std::move(kind), .name = std::move(name)};
}

// jane may read pods everywhere and secrets in shop.
const Authorizer& Cluster() {
  static const auto& authorizer = *new Authorizer(Policy{
      .roles = {{"shop", "secrets", {RuleOf("|secrets|-|-|get")}}},
      .cluster_roles =
          {{"pods", {RuleOf("|pods|-|-|get;list")}},
           {"secrets", {RuleOf("|secrets|-|-|get")}},
           {"nodes", {RuleOf("|nodes|-|-|get;list")}},
           {"escalator", {RuleOf("rbac.authorization.k8s.io|clusterroles;roles|-|-|escalate")}},
           {"one-escalator", {RuleOf("rbac.authorization.k8s.io|clusterroles|mine|-|escalate")}},
           {"role-binder", {RuleOf("rbac.authorization.k8s.io|roles|-|-|bind")}},
           {"binder", {RuleOf("rbac.authorization.k8s.io|clusterroles;roles|nodes;gone|-|bind")}}},
      .role_bindings = {{"shop", "jane", Of("Role", "secrets"), User("jane")},
                        {"shop", "local", Of("ClusterRole", "binder"), User("local-binder")},
                        {"shop", "loc-esc", Of("ClusterRole", "escalator"), User("local-esc")}},
      .cluster_role_bindings = {{"jane", Of("ClusterRole", "pods"), User("jane")},
                                {"esc", Of("ClusterRole", "escalator"), User("esc")},
                                {"one", Of("ClusterRole", "one-escalator"), User("one")},
                                {"roles", Of("ClusterRole", "role-binder"), User("role-binder")},
                                {"binder", Of("ClusterRole", "binder"), User("binder")}},
  });
  return authorizer;
}

Rules ToWrite(const std::string& user, const std::string& ns, const Rules& rules,
              const std::string& name = "") {
  return MissingToWriteRole(Cluster(), AuthenticatedInfo(user),
                            {.ns = ns, .name = name, .rules = rules});
}

TEST(EscalationTest, RolesHoldWhatTheirWriterHolds) {
  const Rules pods{RuleOf("|pods|-|-|get")};
  const Rules secrets{RuleOf("|secrets|-|-|get")};
  EXPECT_EQ(ToWrite("jane", "", pods), Rules{});
  EXPECT_EQ(ToWrite("jane", "shop", pods), Rules{});
  EXPECT_EQ(ToWrite("jane", "", secrets), secrets) << "held in shop only";
  EXPECT_EQ(ToWrite("jane", "shop", secrets), Rules{});
  EXPECT_EQ(ToWrite("jane", "bank", secrets), secrets);
  EXPECT_EQ(ToWrite("jane", "", {RuleOf("|pods|-|-|get;delete")}),
            (Rules{RuleOf("|pods|-|-|delete")}));
  EXPECT_EQ(ToWrite("jane", "", {}), Rules{}) << "a role that grants nothing";
}

TEST(EscalationTest, EscalateAllowsAnyRole) {
  const Rules all{RuleOf("*|*|-|-|*")};
  EXPECT_EQ(ToWrite("esc", "", all), Rules{});
  EXPECT_EQ(ToWrite("esc", "bank", all), Rules{});
  EXPECT_EQ(ToWrite("local-esc", "shop", all), Rules{});
  EXPECT_EQ(ToWrite("local-esc", "bank", all), all);
  EXPECT_EQ(ToWrite("local-esc", "", all), all);
  EXPECT_EQ(ToWrite("one", "", all, "mine"), Rules{});
  EXPECT_EQ(ToWrite("one", "", all, "other"), all);
  EXPECT_EQ(ToWrite("one", "", all, ""), all) << "a POST has no name";
  EXPECT_EQ(MissingToWriteRole(Cluster(), AuthenticatedInfo("x", {"system:masters"}),
                               {.ns = "", .name = "", .rules = all}),
            Rules{});
}

absl::StatusOr<Rules> ToBind(const std::string& user, const std::string& ns, const RoleRef& ref) {
  return MissingToBind(Cluster(), AuthenticatedInfo(user), ns, ref);
}

TEST(EscalationTest, BindingsHandOutWhatTheirWriterHolds) {
  EXPECT_EQ(ToBind("jane", "", Of("ClusterRole", "pods")).value(), Rules{});
  EXPECT_EQ(ToBind("jane", "bank", Of("ClusterRole", "pods")).value(), Rules{});
  EXPECT_EQ(ToBind("jane", "shop", Of("Role", "secrets")).value(), Rules{});
  EXPECT_EQ(ToBind("jane", "shop", Of("ClusterRole", "secrets")).value(), Rules{});
  EXPECT_EQ(ToBind("jane", "", Of("ClusterRole", "secrets")).value(),
            (Rules{RuleOf("|secrets|-|-|get")}));
  EXPECT_EQ(ToBind("jane", "", Of("ClusterRole", "nodes")).value(),
            (Rules{RuleOf("|nodes|-|-|get"), RuleOf("|nodes|-|-|list")}));
}

TEST(EscalationTest, BindAllowsTheNamedRoles) {
  EXPECT_EQ(ToBind("binder", "", Of("ClusterRole", "nodes")).value(), Rules{});
  EXPECT_EQ(ToBind("binder", "bank", Of("ClusterRole", "nodes")).value(), Rules{});
  EXPECT_FALSE(ToBind("binder", "", Of("ClusterRole", "pods")).value().empty());
  EXPECT_EQ(ToBind("local-binder", "shop", Of("ClusterRole", "nodes")).value(), Rules{});
  EXPECT_FALSE(ToBind("local-binder", "bank", Of("ClusterRole", "nodes")).value().empty());
  EXPECT_FALSE(ToBind("local-binder", "", Of("ClusterRole", "nodes")).value().empty());
}

TEST(EscalationTest, BindIsAskedForTheKindOfTheRole) {
  EXPECT_EQ(ToBind("role-binder", "shop", Of("Role", "secrets")).value(), Rules{});
  EXPECT_FALSE(ToBind("role-binder", "shop", Of("ClusterRole", "secrets")).value().empty());
  EXPECT_FALSE(ToBind("role-binder", "", Of("ClusterRole", "secrets")).value().empty());
}

TEST(EscalationTest, ARoleThatIsNotThere) {
  EXPECT_EQ(ToBind("binder", "", Of("ClusterRole", "gone")).value(), Rules{});
  EXPECT_EQ(ToBind("jane", "", Of("ClusterRole", "gone")).status(),
            absl::NotFoundError(R"(clusterrole.rbac.authorization.k8s.io "gone" not found)"));
  EXPECT_EQ(ToBind("jane", "bank", Of("Role", "secrets")).status(),
            absl::NotFoundError(R"(role.rbac.authorization.k8s.io "secrets" not found)"));
}

}  // namespace
}  // namespace mandate::rbac
