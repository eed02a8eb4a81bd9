// Rules as short text, for the tables of tests.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "manager/rbac/rule.h"

namespace mandate::rbac {

// "groups|resources|names|URLs|verbs", each list split at ";"; "-" is the empty list.
inline Rule RuleOf(const std::string& text) {
  const std::vector<std::string> lists = absl::StrSplit(text, '|');
  const auto list = [&](size_t i) -> std::vector<std::string> {
    if (lists.at(i) == "-") return {};
    return absl::StrSplit(lists[i], ';');
  };
  return {.verbs = list(4),
          .api_groups = list(0),
          .resources = list(1),
          .resource_names = list(2),
          .non_resource_urls = list(3)};
}

inline std::vector<Rule> RulesOf(const std::vector<std::string>& texts) {
  std::vector<Rule> rules;
  for (const std::string& text : texts) rules.push_back(RuleOf(text));
  return rules;
}

inline std::vector<std::string> RuleTexts(const std::vector<Rule>& rules) {
  const auto list = [](const std::vector<std::string>& strings) {
    return strings.empty() ? "-" : absl::StrJoin(strings, ";");
  };
  std::vector<std::string> texts;
  for (const Rule& rule : rules) {
    texts.push_back(absl::StrCat(list(rule.api_groups), "|", list(rule.resources), "|",
                                 list(rule.resource_names), "|", list(rule.non_resource_urls), "|",
                                 list(rule.verbs)));
  }
  return texts;
}

}  // namespace mandate::rbac
