#include "rbacgen/analysis/rights_report.h"

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "rbacgen/analysis/words.h"

namespace mandate::rbacgen {

std::string RightsText(std::string_view lead, const RightsByNamespace& rights, bool consequences) {
  std::string text;
  for (const auto& [ns, rules] : rights) {
    for (const rbac::Rule& rule : rules) {
      StrAppend(&text, lead, Printable(RuleWords(rule, ns)));
      const auto words = Consequences(rule);
      if (consequences && !words.empty()) StrAppend(&text, ": ", JoinWords(words));
      text += "\n";
    }
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
  for (const auto& [ns, rules] : rights) {
    for (const rbac::Rule& rule : rules) {
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
      list.append(entry);
    }
  }
  return list;
}

}  // namespace mandate::rbacgen
