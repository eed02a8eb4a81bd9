#include "manager/rbac/impersonation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "manager/rbac/covers.h"

namespace mandate::rbac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kListBind[] = {"list", "bind"};
constexpr std::string_view kEscalate[] = {"escalate"};
constexpr std::string_view kAll[] = {"*"};
constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kRoles[] = {"clusterroles"};
constexpr std::string_view kEdit[] = {"edit"};
constexpr std::string_view kMetrics[] = {"/metrics"};
constexpr MandateRule kRules[] = {
    {.rule =
         {.verbs = kListBind, .api_groups = kRbac, .resources = kRoles, .resource_names = kEdit},
     .ns = "there"},
    {.rule = {.verbs = kEscalate, .api_groups = kRbac, .resources = kRoles}, .ns = ""},
    {.rule = {.verbs = kAll, .non_resource_urls = kMetrics}, .ns = ""},
    {.rule = {.verbs = kAll, .api_groups = kAll, .resources = kAll}, .ns = "", .external = true},
};
constexpr Mandate kMandate = {.component = "scope", .rules = kRules};

bool Holds(const RulesByNamespace& rules, const std::string& ns, Attributes asked) {
  const auto at = rules.find(ns);
  if (at == rules.end()) return false;
  for (const Rule& rule : at->second) {
    if (RuleAllows(rule, asked)) return true;
  }
  return false;
}

Attributes On(std::string verb, std::string group, std::string resource, std::string name = "") {
  Attributes asked;
  asked.verb = std::move(verb);
  asked.api_group = std::move(group);
  asked.resource = std::move(resource);
  asked.name = std::move(name);
  return asked;
}

Attributes Url(std::string verb, std::string path) {
  Attributes asked;
  asked.verb = std::move(verb);
  asked.is_resource_request = false;
  asked.path = std::move(path);
  return asked;
}

TEST(ImpersonationTest, AllowsDeclaredRequestsReviewsAndDiscoveryOnly) {
  const RulesByNamespace whom = {{"mandate", {ImpersonateUserRule("mm-scope")}}};
  const RulesByNamespace rules = ImpersonateOnRules(kMandate);
  const std::string on = "impersonate-on:serviceaccount:";
  EXPECT_TRUE(Holds(
      whom, "mandate",
      On("impersonate:serviceaccount", "authentication.k8s.io", "serviceaccounts", "mm-scope")));
  EXPECT_FALSE(
      Holds(whom, "mandate",
            On("impersonate:serviceaccount", "authentication.k8s.io", "serviceaccounts", "other")));
  EXPECT_TRUE(
      Holds(rules, "there", On(on + "list", "rbac.authorization.k8s.io", "clusterroles", "edit")));
  EXPECT_FALSE(
      Holds(rules, "there", On(on + "list", "rbac.authorization.k8s.io", "clusterroles", "view")));
  EXPECT_FALSE(
      Holds(rules, "there", On(on + "get", "rbac.authorization.k8s.io", "clusterroles", "edit")));
  EXPECT_TRUE(Holds(rules, "", On(on + "create", "authentication.k8s.io", "selfsubjectreviews")));
  EXPECT_TRUE(
      Holds(rules, "", On(on + "create", "authorization.k8s.io", "selfsubjectaccessreviews")));
  EXPECT_TRUE(Holds(rules, "", Url(on + "get", "/apis/apps/v1")));
  EXPECT_TRUE(Holds(rules, "", Url(on + "post", "/metrics")));
  EXPECT_FALSE(Holds(rules, "", Url(on + "get", "/logs")));
  // Base needs the external grants, too, for the verbs that requests can have.
  EXPECT_TRUE(Holds(rules, "", On(on + "deletecollection", "apps", "deployments")));
  // Base never gets the component's own verbs, and never "*".
  EXPECT_FALSE(Holds(rules, "", On("list", "apps", "deployments")));
  EXPECT_FALSE(Holds(rules, "", On("escalate", "rbac.authorization.k8s.io", "clusterroles")));
  for (const auto& [ns, of_ns] : rules) {
    for (const Rule& rule : of_ns) {
      EXPECT_FALSE(Breakdown(rule).empty()) << "a rule of " << ns << " that grants nothing";
      for (const std::string& verb : rule.verbs)
        EXPECT_TRUE(verb.starts_with("impersonate")) << verb;
    }
  }
}

TEST(ImpersonationTest, IsOfOneServiceAccountOnOlderServers) {
  const RulesByNamespace rules = {{"mandate", {ClassicImpersonation("mm-scope")}}};
  EXPECT_TRUE(Holds(rules, "mandate", On("impersonate", "", "serviceaccounts", "mm-scope")));
  EXPECT_FALSE(Holds(rules, "mandate", On("impersonate", "", "serviceaccounts", "other")));
  EXPECT_FALSE(Holds(rules, "mandate", On("impersonate", "", "users", "mm-scope")));
  EXPECT_FALSE(Holds(rules, "", On("impersonate", "", "serviceaccounts", "mm-scope")));
}

// The verbs that base needs in namespace "n" for a rule with these verbs.
std::vector<std::string> VerbsFor(std::vector<std::string> verbs, bool url = false) {
  Rule rule{
      .verbs = std::move(verbs), .api_groups = {"g"}, .resources = {"r"}, .resource_names = {"x"}};
  if (url) rule.non_resource_urls = {"/metrics"};
  const RulesByNamespace result = ImpersonateOnRules(RulesByNamespace{{"n", {rule}}});
  const auto found = result.find("n");
  if (found == result.end()) return {};
  EXPECT_EQ(found->second.size(), 1u);
  Rule on = found->second[0];
  std::vector<std::string> found_verbs = std::exchange(on.verbs, rule.verbs);
  EXPECT_EQ(on, rule) << "only the verbs differ";
  return found_verbs;
}

TEST(WhatToImpersonateOnTest, HasTheVerbsOfRequests) {
  EXPECT_THAT(VerbsFor({"get", "bind"}), ElementsAre("impersonate-on:serviceaccount:get"));
  EXPECT_THAT(VerbsFor({"escalate"}), IsEmpty());
  EXPECT_THAT(VerbsFor({"*"}),
              ElementsAre(HasSubstr(":create"), HasSubstr(":delete"),
                          HasSubstr(":deletecollection"), HasSubstr(":get"), HasSubstr(":list"),
                          HasSubstr(":patch"), HasSubstr(":update"), HasSubstr(":watch")));
}

TEST(WhatToImpersonateOnTest, HasTheVerbsOfUrlsForUrls) {
  EXPECT_THAT(VerbsFor({"post"}, /*url=*/true), ElementsAre("impersonate-on:serviceaccount:post"));
  EXPECT_THAT(VerbsFor({"*"}, /*url=*/true),
              ElementsAre(HasSubstr(":delete"), HasSubstr(":get"), HasSubstr(":head"),
                          HasSubstr(":options"), HasSubstr(":patch"), HasSubstr(":post"),
                          HasSubstr(":put")));
}

}  // namespace
}  // namespace mandate::rbac
