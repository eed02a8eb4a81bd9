#include "manager/rbac/impersonation.h"

#include <algorithm>
#include <span>
#include <utility>

#include "manager/core/strings.h"

namespace mandate::rbac {
namespace {

// The verbs that a request for a resource can have (RequestInfo), and those of a request for a URL.
constexpr std::string_view kRequestVerbs[] = {"create", "delete", "deletecollection", "get",
                                              "list",   "patch",  "update",           "watch"};
constexpr std::string_view kUrlVerbs[] = {"delete", "get",  "head", "options",
                                          "patch",  "post", "put"};

std::vector<std::string> Strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

// The permissions that the manager uses for each component and that every identity has by
// system:basic-user and system:discovery.
std::vector<Rule> EverybodysRules() {
  return {
      {.verbs = {"create"},
       .api_groups = {"authentication.k8s.io"},
       .resources = {"selfsubjectreviews"}},
      {.verbs = {"create"},
       .api_groups = {"authorization.k8s.io"},
       .resources = {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
      {.verbs = {"get"}, .non_resource_urls = {"/api", "/api/*", "/apis", "/apis/*", "/version"}}};
}

// The verbs of `rule`, converted to the verbs of constrained impersonation.
std::vector<std::string> VerbsOn(const Rule& rule) {
  const std::span<const std::string_view> possible =
      rule.non_resource_urls.empty() ? std::span<const std::string_view>(kRequestVerbs) : kUrlVerbs;
  std::vector<std::string> on;
  for (const std::string_view verb : possible) {
    if (VerbMatches(rule, verb)) on.push_back(StrCat("impersonate-on:serviceaccount:", verb));
  }
  return on;
}

Rule OneAccount(std::string_view verb, std::string_view group, std::string_view service_account) {
  return {.verbs = {std::string(verb)},
          .api_groups = {std::string(group)},
          .resources = {"serviceaccounts"},
          .resource_names = {std::string(service_account)}};
}

}  // namespace

Rule ImpersonateUserRule(std::string_view service_account) {
  return OneAccount("impersonate:serviceaccount", "authentication.k8s.io", service_account);
}

Rule ClassicImpersonation(std::string_view service_account) {
  return OneAccount("impersonate", "", service_account);
}

RulesByNamespace ImpersonateOnRules(const RulesByNamespace& declared) {
  RulesByNamespace result;
  const auto add = [&](const std::string& ns, std::vector<Rule> rules) {
    for (Rule& rule : rules) {
      rule.verbs = VerbsOn(rule);
      if (!rule.verbs.empty()) result[ns].push_back(std::move(rule));
    }
  };
  add("", EverybodysRules());
  for (const auto& [ns, rules] : declared) add(ns, rules);
  return result;
}

RulesByNamespace ImpersonateOnRules(const Mandate& mandate) {
  RulesByNamespace declared;
  for (const MandateRule& r : mandate.rules) {
    declared[r.external ? "" : std::string(r.ns)].push_back(
        {.verbs = Strings(r.rule.verbs),
         .api_groups = Strings(r.rule.api_groups),
         .resources = Strings(r.rule.resources),
         .resource_names = Strings(r.rule.resource_names),
         .non_resource_urls = Strings(r.rule.non_resource_urls)});
  }
  return ImpersonateOnRules(declared);
}

}  // namespace mandate::rbac
