#include "manager/preflight_impersonation.h"

#include <gtest/gtest.h>

#include "manager/rbac/covers.h"

namespace mandate {
namespace {

constexpr std::string_view kListBind[] = {"list", "bind"};
constexpr std::string_view kEscalate[] = {"escalate"};
constexpr std::string_view kAll[] = {"*"};
constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kRoles[] = {"clusterroles"};
constexpr std::string_view kEdit[] = {"edit"};
constexpr std::string_view kMetrics[] = {"/metrics"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kListBind,
              .api_groups = kRbac,
              .resources = kRoles,
              .resource_names = kEdit,
              .non_resource_urls = {}},
     .ns = "there"},
    {.rule = {.verbs = kEscalate,
              .api_groups = kRbac,
              .resources = kRoles,
              .resource_names = {},
              .non_resource_urls = {}},
     .ns = ""},
    {.rule = {.verbs = kAll,
              .api_groups = {},
              .resources = {},
              .resource_names = {},
              .non_resource_urls = kMetrics},
     .ns = ""},
    {.rule = {.verbs = kAll,
              .api_groups = kAll,
              .resources = kAll,
              .resource_names = {},
              .non_resource_urls = {}},
     .ns = "",
     .external = true},
};
constexpr rbac::Mandate kMandate = {.component = "scope", .rules = kRules};

bool Holds(const RulesByNamespace& rules, const std::string& ns, rbac::Attributes asked) {
  const auto at = rules.find(ns);
  if (at == rules.end()) return false;
  for (const rbac::Rule& rule : at->second) {
    if (rbac::RuleAllows(rule, asked)) return true;
  }
  return false;
}

rbac::Attributes On(std::string verb, std::string group, std::string resource,
                    std::string name = "") {
  rbac::Attributes asked;
  asked.verb = std::move(verb);
  asked.api_group = std::move(group);
  asked.resource = std::move(resource);
  asked.name = std::move(name);
  return asked;
}

rbac::Attributes Url(std::string verb, std::string path) {
  rbac::Attributes asked;
  asked.verb = std::move(verb);
  asked.is_resource_request = false;
  asked.path = std::move(path);
  return asked;
}

TEST(ImpersonationRulesTest, AreTheMandatesAndTheReviewsAndNothingElse) {
  const RulesByNamespace whom = WhomToImpersonate("mandate", "mm-scope");
  const RulesByNamespace rules = WhatToImpersonateOn(kMandate);
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
  // What is granted externally passes through base too, by the verbs that requests have.
  EXPECT_TRUE(Holds(rules, "", On(on + "deletecollection", "apps", "deployments")));
  // Base never gets a verb of the component's own, nor every verb.
  EXPECT_FALSE(Holds(rules, "", On("list", "apps", "deployments")));
  EXPECT_FALSE(Holds(rules, "", On("escalate", "rbac.authorization.k8s.io", "clusterroles")));
  for (const auto& [ns, of_ns] : rules) {
    for (const rbac::Rule& rule : of_ns) {
      EXPECT_FALSE(rbac::Breakdown(rule).empty()) << "a rule of " << ns << " that grants nothing";
      for (const std::string& verb : rule.verbs)
        EXPECT_TRUE(verb.starts_with("impersonate")) << verb;
    }
  }
}

TEST(ImpersonationRulesTest, OfOlderServersIsOneServiceAccount) {
  const RulesByNamespace rules = ClassicImpersonation("mandate", "mm-scope");
  EXPECT_TRUE(Holds(rules, "mandate", On("impersonate", "", "serviceaccounts", "mm-scope")));
  EXPECT_FALSE(Holds(rules, "mandate", On("impersonate", "", "serviceaccounts", "other")));
  EXPECT_FALSE(Holds(rules, "mandate", On("impersonate", "", "users", "mm-scope")));
  EXPECT_FALSE(Holds(rules, "", On("impersonate", "", "serviceaccounts", "mm-scope")));
}

}  // namespace
}  // namespace mandate
