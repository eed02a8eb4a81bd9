#include "manager/rbac/normalize.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mandate::rbac {
namespace {

using Axis = std::vector<std::string> Rule::*;
using Strings = std::span<const std::string>;

void SortUnique(std::vector<std::string>& strings) {
  std::sort(strings.begin(), strings.end());
  strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
}

Strings KeyOf(const std::vector<std::string>& strings) {
  if (strings.size() == 1 && strings[0].empty()) return {};
  return strings;
}

// Every axis but one. Borrows the rule's strings.
struct Key {
  std::array<Strings, 4> axes;

  bool operator<(const Key& other) const {
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto order = std::lexicographical_compare_three_way(
          axes[i].begin(), axes[i].end(), other.axes[i].begin(), other.axes[i].end());
      if (order != 0) return order < 0;
    }
    return false;
  }
};

Key KeyWithout(Axis left_out, const Rule& rule) {
  static constexpr std::array<Axis, 5> kAxes = {&Rule::api_groups, &Rule::resources,
                                                &Rule::resource_names, &Rule::non_resource_urls,
                                                &Rule::verbs};
  Key key;
  auto next = key.axes.begin();
  for (Axis axis : kAxes) {
    if (axis != left_out) *next++ = KeyOf(rule.*axis);
  }
  return key;
}

// Joins the rules that are equal but for `axis`.
std::vector<Rule> JoinAlong(Axis axis, std::vector<Rule> rules) {
  std::map<Key, std::vector<Rule*>> alike;  // keys borrow from `rules`
  for (Rule& rule : rules) alike[KeyWithout(axis, rule)].push_back(&rule);
  std::vector<Rule> joined;
  joined.reserve(alike.size());
  for (auto& [key, members] : alike) {
    Rule& rule = joined.emplace_back(std::move(*members.front()));
    for (size_t i = 1; i < members.size(); ++i) {
      auto& more = members[i]->*axis;
      std::move(more.begin(), more.end(), std::back_inserter(rule.*axis));
    }
    if (members.size() > 1) SortUnique(rule.*axis);
  }
  return joined;
}

// controller-gen orders rules by this text, separators included.
std::string SortText(const Rule& rule) {
  const auto join = [](const auto& strings) { return absl::StrJoin(strings, "&"); };
  return absl::StrCat(join(rule.api_groups), " + ", join(rule.resources), " + ",
                      join(rule.resource_names), " + ", join(rule.non_resource_urls));
}

std::vector<Rule> OneResourceEach(std::vector<Rule> rules) {
  std::vector<Rule> split;
  split.reserve(rules.size());
  for (Rule& rule : rules) {
    if (rule.resources.size() <= 1) {
      split.push_back(std::move(rule));
      continue;
    }
    for (std::string& resource : std::exchange(rule.resources, {})) {
      split.push_back(rule);
      split.back().resources = {std::move(resource)};
    }
  }
  return split;
}

}  // namespace

std::vector<Rule> NormalizeRules(std::vector<Rule> rules) {
  rules = OneResourceEach(std::move(rules));
  for (Rule& rule : rules) {
    std::replace(rule.api_groups.begin(), rule.api_groups.end(), std::string("core"),
                 std::string());
    for (Axis axis :
         {&Rule::verbs, &Rule::api_groups, &Rule::resource_names, &Rule::non_resource_urls}) {
      SortUnique(rule.*axis);
    }
  }
  for (Axis axis : {&Rule::verbs, &Rule::resources, &Rule::api_groups, &Rule::non_resource_urls}) {
    rules = JoinAlong(axis, std::move(rules));
    // Only rules that this axis made equal: none are left after joining along verbs.
    if (axis != &Rule::verbs) rules = JoinAlong(&Rule::verbs, std::move(rules));
  }
  std::vector<std::pair<std::string, Rule>> sorted;
  sorted.reserve(rules.size());
  for (Rule& rule : rules) sorted.emplace_back(SortText(rule), std::move(rule));
  std::sort(sorted.begin(), sorted.end());
  rules.clear();
  for (auto& [text, rule] : sorted) {
    if (std::find(rule.verbs.begin(), rule.verbs.end(), "*") != rule.verbs.end()) {
      rule.verbs = {"*"};
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace mandate::rbac
