#include "manager/preflight_impersonation.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

// Every verb that a request for a resource can have (RequestInfo).
constexpr std::array<std::string_view, 8> kRequestVerbs = {
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
constexpr std::array<std::string_view, 7> kUrlVerbs = {"get",   "head",   "post",   "put",
                                                       "patch", "delete", "options"};

std::vector<std::string> Strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

// RBAC matches a verb whole or as "*", which would be every verb, unconstrained: so "*" is spelt
// out.
std::vector<std::string> VerbsOn(std::span<const std::string_view> verbs,
                                 std::span<const std::string_view> possible) {
  std::vector<std::string> on;
  const bool every = std::find(verbs.begin(), verbs.end(), "*") != verbs.end();
  for (std::string_view verb : possible) {
    if (every || std::find(verbs.begin(), verbs.end(), verb) != verbs.end()) {
      on.push_back(StrCat("impersonate-on:serviceaccount:", verb));
    }
  }
  return on;
}

RulesByNamespace OneAccount(std::string_view verb, std::string_view group, std::string_view ns,
                            std::string_view service_account) {
  return {{std::string(ns),
           {{.verbs = {std::string(verb)},
             .api_groups = {std::string(group)},
             .resources = {"serviceaccounts"},
             .resource_names = {std::string(service_account)},
             .non_resource_urls = {}}}}};
}

}  // namespace

RulesByNamespace WhomToImpersonate(std::string_view ns, std::string_view service_account) {
  return OneAccount("impersonate:serviceaccount", "authentication.k8s.io", ns, service_account);
}

RulesByNamespace ClassicImpersonation(std::string_view ns, std::string_view service_account) {
  return OneAccount("impersonate", "", ns, service_account);
}

RulesByNamespace WhatToImpersonateOn(const rbac::Mandate& mandate) {
  RulesByNamespace rules;
  auto& everywhere = rules[""];
  everywhere.push_back({.verbs = {"impersonate-on:serviceaccount:create"},
                        .api_groups = {"authentication.k8s.io"},
                        .resources = {"selfsubjectreviews"},
                        .resource_names = {},
                        .non_resource_urls = {}});
  everywhere.push_back({.verbs = {"impersonate-on:serviceaccount:create"},
                        .api_groups = {"authorization.k8s.io"},
                        .resources = {"selfsubjectaccessreviews"},
                        .resource_names = {},
                        .non_resource_urls = {}});
  everywhere.push_back({.verbs = {"impersonate-on:serviceaccount:get"},
                        .api_groups = {},
                        .resources = {},
                        .resource_names = {},
                        .non_resource_urls = {"/api", "/api/*", "/apis", "/apis/*", "/version"}});
  for (const rbac::MandateRule& declared : mandate.rules) {
    const rbac::RuleView& rule = declared.rule;
    const bool url = !rule.non_resource_urls.empty();
    std::vector<std::string> verbs =
        url ? VerbsOn(rule.verbs, kUrlVerbs) : VerbsOn(rule.verbs, kRequestVerbs);
    if (verbs.empty()) continue;
    rules[std::string(declared.ns)].push_back(
        {.verbs = std::move(verbs),
         .api_groups = Strings(rule.api_groups),
         .resources = Strings(rule.resources),
         .resource_names = Strings(rule.resource_names),
         .non_resource_urls = Strings(rule.non_resource_urls)});
  }
  return rules;
}

}  // namespace mandate
