#include "webhooks/scope/verdict.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/testing_objects.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"
#include "manager/rbac/escalation.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::scope {
namespace {

RoleTemplate Role(const std::vector<rbac::Rule>& rules) {
  RoleTemplate role;
  role.generate_name = "a-";
  role.name = "scope-template:a-1";
  for (const rbac::Rule& rule : rules) role.rules.push_back(rbac::ToProto(rule));
  return role;
}

rbac::Rule To(std::string_view verb, std::string_view resource, std::string_view name = "") {
  rbac::Rule rule{
      .verbs = {std::string(verb)}, .api_groups = {""}, .resources = {std::string(resource)}};
  if (!name.empty()) rule.resource_names = {std::string(name)};
  return rule;
}

// Allows what `may` says, and counts the questions.
struct Asked {
  std::function<bool(const AccessQuestion&)> may;
  size_t questions = 0;

  AskAccess Ask() {
    return [this](const std::vector<AccessQuestion>& asked) {
      std::vector<AccessAnswer> answers(asked.size());
      for (size_t i = 0; i < asked.size(); ++i) answers[i].set_allowed(may(asked[i]));
      questions += asked.size();
      return answers;
    };
  }
};

TEST(CheckRequirements, NamesMissingRightsAsTheApiServer) {
  Asked none{.may = [](const AccessQuestion&) { return false; }};
  const auto check = [&](const std::vector<Requirement>& requirements) {
    return std::string(CheckRequirements("ann", requirements, none.Ask()).message());
  };
  EXPECT_EQ(
      check({ToBindRole(Role({To("get", "secrets"), To("get", "pods/log", "web")}), "foo")}),
      "attempting to grant RBAC permissions not currently held: user \"ann\" cannot get "
      "resource \"secrets\" in API group \"\" in the namespace \"foo\"; user \"ann\" cannot "
      "get resource \"pods/log\" \"web\" in API group \"\" in the namespace \"foo\"; the user "
      "needs these permissions, or verb \"bind\" on clusterroles.rbac.authorization.k8s.io, to "
      "bind role \"a-\" in "
      "namespace \"foo\"");
  EXPECT_EQ(check({ToWriteRole(Role({{.verbs = {"get"}, .non_resource_urls = {"/metrics"}}}))}),
            "attempting to grant RBAC permissions not currently held: user \"ann\" cannot get path "
            "\"/metrics\"; the user needs these permissions, or verb \"escalate\" on "
            "clusterroles.rbac.authorization.k8s.io, to write the rules of role \"a-\"");
  EXPECT_NE(check({ToBindAnyRole("")}).find("cannot bind resource \"clusterroles\""),
            std::string::npos);
  std::vector<rbac::Rule> many;
  for (int i = 0; i < 25; ++i) many.push_back(To("get", StrCat("r", i)));
  EXPECT_NE(check({ToBindRole(Role(many), "")}).find("; and 15 more; "), std::string::npos);
  EXPECT_EQ(check({ToBindRole(Role({}), "foo")}), "") << "an empty role grants nothing";
  EXPECT_EQ(check({}), "");
}

TEST(CheckRequirements, NamesAMissingRightOnceAndTheFirstRequirement) {
  Asked none{.may = [](const AccessQuestion&) { return false; }};
  const RoleTemplate role = Role({To("get", "pods")});
  EXPECT_EQ(CheckRequirements("ann", {ToBindRole(role, ""), ToWriteRole(role)}, none.Ask()),
            absl::PermissionDeniedError(
                "attempting to grant RBAC permissions not currently held: user \"ann\" cannot get "
                "resource \"pods\" in API group \"\" at the cluster scope; the user needs these "
                "permissions, or verb \"bind\" on clusterroles.rbac.authorization.k8s.io, to bind "
                "role \"a-\" in the whole cluster"));
}

TEST(CheckRequirements, EachAnswerCountsForItsRequirement) {
  Asked in_foo{.may = [](const AccessQuestion& q) { return q.ns == "foo"; }};
  const RoleTemplate role = Role({To("get", "pods")});
  const std::vector<std::vector<Requirement>> cases = {
      {ToBindAnyRole("foo"), ToBindAnyRole("bar")},
      {ToBindAnyRole("bar"), ToBindAnyRole("foo")},
      {ToBindRole(role, "foo"), ToBindAnyRole("bar")},
      {ToBindAnyRole("foo"), ToBindRole(role, "bar")},
      {ToBindRole(role, "foo"), ToBindRole(role, "bar")}};
  for (const std::vector<Requirement>& both : cases) {
    const std::string denied(CheckRequirements("ann", both, in_foo.Ask()).message());
    EXPECT_NE(denied.find("in the namespace \"bar\"; the user needs"), std::string::npos) << denied;
    EXPECT_TRUE(denied.ends_with("in namespace \"bar\"")) << "the unmet one: " << denied;
    EXPECT_EQ(denied.find("\"foo\""), std::string::npos) << denied;
  }
}

TEST(CheckRequirements, AsksForRightsOnlyWithoutTheShortcut) {
  Asked binds{.may = [](const AccessQuestion& q) { return q.rule.verbs[0] == "bind"; }};
  const std::vector<Requirement> both = {ToBindRole(Role({To("get", "pods")}), "foo"),
                                         ToBindRole(Role({To("get", "pods")}), "bar")};
  EXPECT_TRUE(CheckRequirements("ann", both, binds.Ask()).ok());
  EXPECT_EQ(binds.questions, 2u);
  Asked holds{.may = [](const AccessQuestion& q) { return q.rule.verbs[0] == "get"; }};
  EXPECT_TRUE(CheckRequirements("ann", both, holds.Ask()).ok());
  EXPECT_EQ(holds.questions, 4u);
}

TEST(CheckRequirements, ReturnsErrorsOfTheServer) {
  const AskAccess down = [](const std::vector<AccessQuestion>&) {
    return absl::UnavailableError("gone");
  };
  EXPECT_TRUE(absl::IsUnavailable(CheckRequirements("ann", {ToBindAnyRole("")}, down)));
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::vector<rbac::Rule> Rules(bool urls) {
    std::vector<rbac::Rule> rules;
    for (uint64_t i = random_() % 4; i > 0; --i) rules.push_back(Rule(urls));
    return rules;
  }

 private:
  std::vector<std::string> Some(std::vector<std::string> from) {
    std::vector<std::string> some;
    for (uint64_t i = 1 + random_() % 2; i > 0; --i) some.push_back(from[random_() % from.size()]);
    return some;
  }
  rbac::Rule Rule(bool urls) {
    rbac::Rule rule{.verbs = Some({"get", "list", "*", "escalate", "bind"})};
    if (urls && random_() % 4 == 0) {
      rule.non_resource_urls = Some({"/metrics", "/healthz", "/healthz/*", "*"});
      return rule;
    }
    rule.api_groups = Some({"", "apps", "*", "rbac.authorization.k8s.io"});
    rule.resources = Some({"pods", "pods/log", "*/log", "*", "clusterroles"});
    if (random_() % 3 == 0) rule.resource_names = Some({"a", "b", "", "scope-template:a-1"});
    return rule;
  }

  std::mt19937_64 random_;
};

// The API server's check of an equivalent ClusterRole and an equivalent binding
// (manager/rbac/escalation.h, which testing/rbac_fidelity compares with a real server).
TEST(CheckRequirements, DecidesAsTheApiServer) {
  int64_t allowed = 0;
  const int64_t ran = RunSeeds(3000, [&](uint64_t seed) {
    Generator random(seed);
    const std::vector<rbac::Rule> wanted = random.Rules(/*urls=*/true);
    rbac::Policy policy;
    const rbac::Subject ann{.kind = "User", .api_group = rbac::kRbacGroup, .name = "ann", .ns = ""};
    policy.cluster_roles = {{"scope-template:a-1", wanted},
                            {"everywhere", random.Rules(/*urls=*/true)},
                            // URLs in a RoleBinding grant nothing, yet the API server counts them.
                            {"here", random.Rules(/*urls=*/false)}};
    policy.cluster_role_bindings = {
        {"everywhere", {.kind = "ClusterRole", .name = "everywhere"}, {ann}}};
    policy.role_bindings = {{"foo", "here", {.kind = "ClusterRole", .name = "here"}, {ann}}};
    const rbac::Authorizer authorizer(std::move(policy));
    const rbac::UserInfo user = rbac::AuthenticatedInfo("ann");
    Asked server{.may = [&](const AccessQuestion& q) {
      rbac::Attributes asked;
      asked.verb = q.rule.verbs[0];
      asked.ns = q.ns;
      if (!q.rule.non_resource_urls.empty()) {
        asked.is_resource_request = false;
        asked.path = q.rule.non_resource_urls[0];
        asked.ns.clear();
      } else {
        const std::string& resource = q.rule.resources[0];
        const size_t slash = std::min(resource.find('/'), resource.size());
        asked.api_group = q.rule.api_groups[0];
        asked.resource = resource.substr(0, slash);
        if (slash < resource.size()) asked.subresource = resource.substr(slash + 1);
        if (!q.rule.resource_names.empty()) asked.name = q.rule.resource_names[0];
      }
      return authorizer.Authorize(user, asked).allowed;
    }};
    const RoleTemplate role = Role(wanted);
    const bool may_write = CheckRequirements("ann", {ToWriteRole(role)}, server.Ask()).ok();
    EXPECT_EQ(may_write, rbac::MissingToWriteRole(authorizer, user, {"", "", wanted}).empty());
    for (const char* ns : {"", "foo", "bar"}) {
      const bool may_bind = CheckRequirements("ann", {ToBindRole(role, ns)}, server.Ask()).ok();
      const auto missing =
          rbac::MissingToBind(authorizer, user, ns, {.kind = "ClusterRole", .name = role.name});
      ASSERT_TRUE(missing.ok());
      EXPECT_EQ(may_bind, missing->empty()) << ns;
      allowed += may_bind && !wanted.empty();
    }
  });
  if (ran >= 100) {
    EXPECT_GT(allowed, ran / 10);
    EXPECT_LT(allowed, 3 * ran);
  }
}

}  // namespace
}  // namespace mandate::scope
