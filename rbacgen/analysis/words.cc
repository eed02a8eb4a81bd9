#include "rbacgen/analysis/words.h"

#include <algorithm>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io";

struct Consequence {
  std::vector<std::string_view> verbs;  // any of them
  std::string_view group, resource, subresource;
  std::string_view words;
};

const std::vector<Consequence>& AllConsequences() {
  static const auto& all = *new std::vector<Consequence>{
      {{"create"}, "", "serviceaccounts", "token", "acts as these ServiceAccounts"},
      {{"impersonate"}, "", "serviceaccounts", "", "acts as these ServiceAccounts"},
      {{"impersonate"}, "", "users", "", "acts as these users"},
      {{"impersonate"}, "", "groups", "", "acts with the rights of these groups"},
      {{"escalate"}, kRbac, "clusterroles", "", "writes roles with rights that it does not hold"},
      {{"escalate"}, kRbac, "roles", "", "writes roles with rights that it does not hold"},
      {{"bind"}, kRbac, "clusterroles", "", "hands out roles that it does not hold"},
      {{"bind"}, kRbac, "roles", "", "hands out roles that it does not hold"},
      {{"create"}, "", "pods", "", "runs as any ServiceAccount there"},
      {{"update", "patch"}, "", "pods", "", "runs images of its choice in any pod there"},
      {{"create", "update", "patch"},
       "",
       "replicationcontrollers",
       "",
       "runs as any ServiceAccount there"},
      {{"create", "update", "patch"},
       "apps",
       "deployments",
       "",
       "runs as any ServiceAccount there"},
      {{"create", "update", "patch"}, "apps", "daemonsets", "", "runs as any ServiceAccount there"},
      {{"create", "update", "patch"},
       "apps",
       "statefulsets",
       "",
       "runs as any ServiceAccount there"},
      {{"create", "update", "patch"},
       "apps",
       "replicasets",
       "",
       "runs as any ServiceAccount there"},
      {{"create"}, "batch", "jobs", "", "runs as any ServiceAccount there"},
      {{"create", "update", "patch"}, "batch", "cronjobs", "", "runs as any ServiceAccount there"},
      {{"create", "get"}, "", "pods", "exec", "runs commands in any pod there"},
      {{"create", "get"}, "", "pods", "attach", "speaks to any pod's process there"},
      {{"update", "patch"}, "", "pods", "ephemeralcontainers", "runs commands in any pod there"},
      {{"get", "list", "watch"}, "", "secrets", "", "reads credentials"},
      {{"create", "get"}, "", "nodes", "proxy", "runs commands in any pod of the cluster"},
      {{"create", "update", "patch"},
       "admissionregistration.k8s.io",
       "mutatingwebhookconfigurations",
       "",
       "changes whatever anybody writes"},
  };
  return all;
}

bool Has(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

std::string JoinWords(std::span<const std::string> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string ResourceWords(std::string_view group, std::string_view resource) {
  const size_t slash = resource.find('/');
  std::string text(resource.substr(0, slash));
  if (resource == "*") {
    text = group == "*" ? "every resource" : "all resources";
    if (group == "*") return text;
    return StrCat(text, " of ", group.empty() ? "the core group" : group);
  }
  if (!group.empty()) StrAppend(&text, ".", group);
  if (slash != resource.npos) StrAppend(&text, resource.substr(slash));
  return text;
}

std::string RuleWords(const rbac::Rule& rule, std::string_view ns) {
  const std::string verbs = Has(rule.verbs, "*") ? "do anything to" : JoinWords(rule.verbs);
  if (!rule.non_resource_urls.empty()) {
    return StrCat(verbs, " ", JoinWords(rule.non_resource_urls));
  }
  std::vector<std::string> things;
  for (const std::string& group : rule.api_groups) {
    for (const std::string& resource : rule.resources) {
      things.push_back(ResourceWords(group, resource));
    }
  }
  std::string text = StrCat(verbs, " ", JoinWords(things));
  if (!rule.resource_names.empty()) StrAppend(&text, " named ", JoinWords(rule.resource_names));
  if (!ns.empty()) StrAppend(&text, " in ", ns);
  return text;
}

std::vector<std::string> Consequences(const rbac::Rule& rule) {
  std::vector<std::string> words;
  if (Has(rule.verbs, "*") && Has(rule.resources, "*") && Has(rule.api_groups, "*")) {
    return {"does anything"};
  }
  for (const Consequence& c : AllConsequences()) {
    const bool verb = std::ranges::any_of(
        c.verbs, [&](std::string_view v) { return rbac::VerbMatches(rule, v); });
    if (!verb || !rbac::GroupMatches(rule, c.group) ||
        !rbac::ResourceMatches(rule, c.resource, c.subresource)) {
      continue;
    }
    if (!Has(words, c.words)) words.emplace_back(c.words);
  }
  return words;
}

}  // namespace mandate::rbacgen
