#include "manager/rbac/normalize.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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

// All axes of a rule except one. Borrows the rule's strings.
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

// Joins the rules that differ only in `axis`.
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

// One resource of a rule, and the rule's other axes except its verbs. Borrows the rule's strings.
struct ResourceKey {
  std::array<Strings, 3> axes;
  std::string_view resource;

  bool operator==(const ResourceKey& other) const {
    const auto equal = [](Strings a, Strings b) { return std::ranges::equal(a, b); };
    return resource == other.resource && std::ranges::equal(axes, other.axes, equal);
  }
};

struct ResourceKeyHash {
  size_t operator()(const ResourceKey& key) const {
    size_t hash = std::hash<std::string_view>()(key.resource);
    for (const Strings strings : key.axes) {
      hash = hash * 31 + strings.size();
      for (const std::string& s : strings) hash = hash * 31 + std::hash<std::string_view>()(s);
    }
    return hash;
  }
};

// Splits the rules by resource, and joins those that differ only in their verbs. The groups are
// found before any rule is copied, because there are far fewer groups than rules.
std::vector<Rule> OneResourceEach(const std::vector<Rule>& rules) {
  struct Group {
    const Rule* first;
    const std::string* resource;  // null: the rule has none
    std::vector<const Rule*> members;
  };
  std::vector<Group> groups;
  std::unordered_map<ResourceKey, size_t, ResourceKeyHash> known;
  const auto add = [&](const Rule& rule, const std::string* resource) {
    const ResourceKey key = {
        {KeyOf(rule.api_groups), KeyOf(rule.resource_names), KeyOf(rule.non_resource_urls)},
        resource == nullptr ? std::string_view() : *resource};
    const auto [group, is_new] = known.try_emplace(key, groups.size());
    if (is_new) groups.push_back({&rule, resource, {}});
    groups[group->second].members.push_back(&rule);
  };
  for (const Rule& rule : rules) {
    if (rule.resources.empty()) add(rule, nullptr);
    for (const std::string& resource : rule.resources) add(rule, &resource);
  }
  std::vector<Rule> joined;
  joined.reserve(groups.size());
  for (const Group& group : groups) {
    Rule& rule = joined.emplace_back();
    rule.api_groups = group.first->api_groups;
    if (group.resource != nullptr) rule.resources = {*group.resource};
    rule.resource_names = group.first->resource_names;
    rule.non_resource_urls = group.first->non_resource_urls;
    std::set<std::string_view> verbs;
    for (const Rule* member : group.members) {
      verbs.insert(member->verbs.begin(), member->verbs.end());
    }
    rule.verbs.assign(verbs.begin(), verbs.end());
  }
  return joined;
}

}  // namespace

std::vector<Rule> NormalizeRules(std::vector<Rule> rules) {
  for (Rule& rule : rules) {
    std::replace(rule.api_groups.begin(), rule.api_groups.end(), std::string("core"),
                 std::string());
    for (Axis axis : {&Rule::api_groups, &Rule::resource_names, &Rule::non_resource_urls}) {
      SortUnique(rule.*axis);
    }
  }
  rules = OneResourceEach(rules);
  for (Axis axis : {&Rule::verbs, &Rule::resources, &Rule::api_groups, &Rule::non_resource_urls}) {
    rules = JoinAlong(axis, std::move(rules));
    // Joining along `axis` may leave rules that differ only in their verbs. Joining along verbs
    // cannot.
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
