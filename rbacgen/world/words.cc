#include "rbacgen/world/words.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "manager/rbac/risky_rights.h"

namespace mandate::rbacgen {
namespace {

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
  using enum rbac::RiskyRight::Severity;
  std::vector<std::string> words;
  if (Has(rule.verbs, "*") && Has(rule.resources, "*") && Has(rule.api_groups, "*")) {
    return {"does anything"};
  }
  const auto add = [&](std::string_view text) {
    if (!text.empty() && !Has(words, text)) words.emplace_back(text);
  };
  for (const auto severity : {kCritical, kHigh, kMedium}) {
    for (const rbac::RiskyRight& risky : rbac::RiskyRights()) {
      if (risky.severity == severity && !risky.VerbOf(rule).empty()) add(risky.consequence);
    }
  }
  add(rbac::RiskOfUrls(rule));
  return words;
}

}  // namespace mandate::rbacgen
