#include "rbacgen/markers/minimal_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace mandate::rbacgen {
namespace {

using rbac::Rule;
using Strings = std::vector<std::string>;
using Axis = Strings Rule::*;

constexpr std::array<Axis, 5> kAxes = {&Rule::verbs, &Rule::resources, &Rule::api_groups,
                                       &Rule::resource_names, &Rule::non_resource_urls};

// One verb on one resource of one group, with one name or any name; or one verb on one URL.
struct Atom {
  std::string verb;
  bool is_url = false;
  std::string group;
  std::string resource;
  bool any_name = true;
  std::string name;
  std::string url;

  auto operator<=>(const Atom&) const = default;
};

bool IsOrAny(std::string_view held, std::string_view wanted) {
  return held == "*" || held == wanted;
}

// "*" covers everything, and "*/log" covers the log of every resource; "pods/log" does not cover
// "*/log".
bool CoversResource(std::string_view held, std::string_view wanted) {
  if (IsOrAny(held, wanted)) return true;
  const size_t slash = wanted.find('/');
  return slash != wanted.npos && held.starts_with("*/") && held.substr(1) == wanted.substr(slash);
}

// A pattern ends in "*"; several stars at the end are the same as one.
bool CoversUrl(std::string_view held, std::string_view wanted) {
  if (held == wanted || held == "*") return true;
  if (!held.ends_with('*')) return false;
  while (held.ends_with('*')) held.remove_suffix(1);
  return wanted.starts_with(held);
}

bool Covers(const Atom& held, const Atom& wanted) {
  if (held.is_url != wanted.is_url || !IsOrAny(held.verb, wanted.verb)) return false;
  if (held.is_url) return CoversUrl(held.url, wanted.url);
  return IsOrAny(held.group, wanted.group) && CoversResource(held.resource, wanted.resource) &&
         (held.any_name || (!wanted.any_name && held.name == wanted.name));
}

std::set<Atom> Atoms(const std::vector<Rule>& rules) {
  std::set<Atom> atoms;
  for (const Rule& rule : rules) {
    for (const std::string& verb : rule.verbs) {
      for (const std::string& url : rule.non_resource_urls) {
        atoms.insert(
            {.verb = verb, .is_url = true, .group = {}, .resource = {}, .name = {}, .url = url});
      }
      for (const std::string& group : rule.api_groups) {
        for (const std::string& resource : rule.resources) {
          Atom atom = {.verb = verb,
                       .group = group == "core" ? "" : group,
                       .resource = resource,
                       .name = {},
                       .url = {}};
          if (rule.resource_names.empty()) atoms.insert(atom);
          atom.any_name = false;
          for (const std::string& name : rule.resource_names) {
            atom.name = name;
            atoms.insert(atom);
          }
        }
      }
    }
  }
  return atoms;
}

// Of atoms that cover each other, such as "/a*" and "/a**", only the first stays.
std::vector<Atom> Uncovered(const std::set<Atom>& atoms, const std::set<Atom>& held) {
  std::vector<Atom> left;
  for (const Atom& atom : atoms) {
    const bool covered =
        std::any_of(held.begin(), held.end(), [&](const Atom& h) { return Covers(h, atom); }) ||
        std::any_of(atoms.begin(), atoms.end(), [&](const Atom& other) {
          return other != atom && Covers(other, atom) && (!Covers(atom, other) || other < atom);
        });
    if (!covered) left.push_back(atom);
  }
  return left;
}

Rule ToRule(const Atom& atom) {
  Rule rule;
  rule.verbs = {atom.verb};
  if (atom.is_url) {
    rule.non_resource_urls = {atom.url};
    return rule;
  }
  rule.api_groups = {atom.group};
  rule.resources = {atom.resource};
  if (!atom.any_name) rule.resource_names = {atom.name};
  return rule;
}

// Merges rules that differ only in `axis` and have a non-empty value there (an empty resourceNames
// means "any").
std::vector<Rule> JoinAlong(Axis axis, const std::vector<Rule>& rules) {
  std::map<std::pair<bool, Rule>, std::set<std::string>> alike;
  for (const Rule& rule : rules) {
    Rule key = rule;
    (key.*axis).clear();
    alike[{(rule.*axis).empty(), std::move(key)}].insert((rule.*axis).begin(), (rule.*axis).end());
  }
  std::vector<Rule> joined;
  for (auto& [key, strings] : alike) {
    Rule& rule = joined.emplace_back(key.second);
    (rule.*axis).assign(strings.begin(), strings.end());
  }
  return joined;
}

std::vector<Rule> Join(const std::vector<Atom>& atoms) {
  std::vector<Rule> rules;
  for (const Atom& atom : atoms) rules.push_back(ToRule(atom));
  for (size_t before = rules.size() + 1; rules.size() < before;) {
    before = rules.size();
    for (const Axis axis : kAxes) rules = JoinAlong(axis, rules);
  }
  // Nearly the order of controller-gen, whose own normal form treats the name "" like no name.
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) {
    return std::tie(a.api_groups, a.resources, a.resource_names, a.non_resource_urls, a.verbs) <
           std::tie(b.api_groups, b.resources, b.resource_names, b.non_resource_urls, b.verbs);
  });
  return rules;
}

}  // namespace

std::vector<Rule> MinimalRules(const std::vector<Rule>& rules) {
  return Join(Uncovered(Atoms(rules), {}));
}

void MinimizeGrants(ComponentMandate* component) {
  std::set<Atom> everywhere;
  for (const Grant& grant : component->grants) {
    if (grant.ns.empty() && !grant.external) everywhere = Atoms(grant.rules);
  }
  for (Grant& grant : component->grants) {
    const bool own = grant.ns.empty() && !grant.external;
    grant.rules = Join(Uncovered(Atoms(grant.rules), own ? std::set<Atom>() : everywhere));
  }
  std::erase_if(component->grants, [](const Grant& grant) { return grant.rules.empty(); });
}

}  // namespace mandate::rbacgen
