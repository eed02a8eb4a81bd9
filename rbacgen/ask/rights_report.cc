#include "rbacgen/ask/rights_report.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/rbac/risky_rights.h"
#include "rbacgen/world/words.h"

namespace mandate::rbacgen {
namespace {

struct Ranked {
  std::string ns;
  rbac::Rule rule;
  std::optional<rbac::RiskyRight::Severity> severity;
};

// Sorts by severity, the most severe first, then by namespace and rule.
std::vector<Ranked> Rank(const RightsByNamespace& rights) {
  std::vector<Ranked> ranked;
  for (const auto& [ns, rules] : rights) {
    for (const rbac::Rule& rule : rules) ranked.push_back({ns, rule, rbac::SeverityOf(rule)});
  }
  std::ranges::stable_sort(ranked, std::greater(), &Ranked::severity);
  return ranked;
}

}  // namespace

std::string RightsText(std::string_view lead, const RightsByNamespace& rights, bool consequences) {
  std::string text;
  for (const auto& [ns, rule, severity] : Rank(rights)) {
    StrAppend(&text, lead, Printable(RuleWords(rule, ns)));
    if (consequences && severity.has_value()) {
      StrAppend(&text, ": ", JoinWords(Consequences(rule)), " (", rbac::SeverityName(*severity),
                ")");
    }
    text += "\n";
  }
  return text;
}

Json::Value RightsJson(const RightsByNamespace& rights) {
  const auto strings = [](const std::vector<std::string>& all) {
    Json::Value list(Json::arrayValue);
    for (const std::string& s : all) list.append(s);
    return list;
  };
  Json::Value list(Json::arrayValue);
  for (const auto& [ns, rule, severity] : Rank(rights)) {
    Json::Value entry(Json::objectValue);
    if (!ns.empty()) entry["namespace"] = ns;
    entry["verbs"] = strings(rule.verbs);
    if (rule.non_resource_urls.empty()) {
      entry["apiGroups"] = strings(rule.api_groups);
      entry["resources"] = strings(rule.resources);
      if (!rule.resource_names.empty()) entry["resourceNames"] = strings(rule.resource_names);
    } else {
      entry["nonResourceURLs"] = strings(rule.non_resource_urls);
    }
    if (severity.has_value()) {
      entry["consequences"] = strings(Consequences(rule));
      entry["severity"] = std::string(rbac::SeverityName(*severity));
    }
    list.append(entry);
  }
  return list;
}

}  // namespace mandate::rbacgen
