#include "rbacgen/lint/risk.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "manager/core/strings.h"
#include "manager/rbac/risky_rights.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

bool Has(const std::vector<std::string>& strings, std::string_view wanted) {
  return std::find(strings.begin(), strings.end(), wanted) != strings.end();
}

// A URL with several stars at its end matches like one with one star (manager/rbac/rule.h).
bool IsEveryUrl(std::string_view url) {
  if (!url.ends_with('*')) return false;
  while (url.ends_with('*')) url.remove_suffix(1);
  return url.empty() || url == "/";
}

}  // namespace

std::optional<std::string> Risk(const rbac::Rule& as_written) {
  rbac::Rule rule = as_written;
  std::ranges::replace(rule.api_groups, "core", "");
  for (const std::string& verb : rule.verbs) {
    if (verb == "*" || verb == "escalate" || verb == "bind" || verb == "impersonate" ||
        verb.starts_with("impersonate:") || verb.starts_with("impersonate-on:")) {
      return StrCat("verb ", Quoted(verb));
    }
  }
  if (Has(rule.api_groups, "*")) return "group \"*\"";
  for (const std::string& resource : rule.resources) {
    if (resource.starts_with('*')) return StrCat("resource ", Quoted(resource));
  }
  if (std::ranges::any_of(rule.non_resource_urls, IsEveryUrl)) return "every URL";
  if (const std::string_view consequence = rbac::RiskOfUrls(rule); !consequence.empty()) {
    return StrCat("a URL that ", consequence);
  }
  for (const rbac::RiskyRight& risky : rbac::RiskyRights()) {
    const std::string_view verb = risky.VerbOf(rule);
    if (verb.empty()) continue;
    return StrCat(verb, " on ", risky.resource, risky.subresource.empty() ? "" : "/",
                  risky.subresource, " (", risky.consequence, ")");
  }
  return std::nullopt;
}

}  // namespace mandate::rbacgen
