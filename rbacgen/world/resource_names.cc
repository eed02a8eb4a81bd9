#include "rbacgen/world/resource_names.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "rbacgen/lint/builtin_resources.h"

namespace mandate::rbacgen {
namespace {

enum class NameKind { kPlural, kSingular, kShort };

bool EndsWithAny(std::string_view word, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return word.ends_with(end); });
}

// The English rules for plurals, as far as names of resources need them.
bool IsPluralOf(std::string_view plural, std::string_view singular) {
  if (plural == StrCat(singular, "s")) return true;
  if (singular.ends_with('y')) {
    return plural == StrCat(singular.substr(0, singular.size() - 1), "ies");
  }
  return EndsWithAny(singular, {"s", "x", "z", "ch", "sh"}) && plural == StrCat(singular, "es");
}

bool IsCalled(const BuiltinResource& r, std::string_view name, NameKind kind) {
  if (kind == NameKind::kPlural) return r.resource == name;
  if (kind == NameKind::kSingular) return IsPluralOf(r.resource, name);
  return std::ranges::any_of(BuiltinShortNames(), [&](const BuiltinShortName& s) {
    return s.short_name == name && s.group == r.group && s.resource == r.resource;
  });
}

bool IsCalled(const ResourceNames& r, std::string_view name, NameKind kind) {
  if (kind == NameKind::kPlural) return r.plural == name;
  if (kind == NameKind::kSingular) return r.singular == name;
  return std::ranges::find(r.short_names, name) != r.short_names.end();
}

// Such as "v1" and "v1beta2".
bool IsVersion(std::string_view label) {
  if (label.size() < 2 || label[0] != 'v' || !absl::ascii_isdigit(label[1])) return false;
  return std::ranges::all_of(label, [](unsigned char c) { return absl::ascii_isalnum(c); });
}

// The resources that the policy's rules name.
std::set<std::pair<std::string, std::string>> NamedInRules(const rbac::Policy& policy) {
  std::set<std::pair<std::string, std::string>> named;  // group, resource
  const auto look = [&](const std::vector<rbac::Rule>& rules) {
    for (const rbac::Rule& rule : rules) {
      for (const std::string& resource : rule.resources) {
        for (const std::string& group : rule.api_groups) {
          if (group != "*") named.emplace(group, resource.substr(0, resource.find('/')));
        }
      }
    }
  };
  for (const auto& role : policy.cluster_roles) look(role.rules);
  for (const auto& role : policy.roles) look(role.rules);
  return named;
}

class Finder {
 public:
  Finder(const std::vector<ResourceNames>& custom, const rbac::Policy& policy)
      : custom_(custom), named_(NamedInRules(policy)) {}

  // Finds the resource in the group, or in any group.
  std::optional<ResourceId> Find(std::string_view name, std::optional<std::string_view> group) {
    for (const NameKind kind : {NameKind::kPlural, NameKind::kSingular, NameKind::kShort}) {
      if (auto found = Builtin(name, kind, group, /*served=*/true)) return found;
      if (auto found = Custom(name, kind, group)) return found;
      if (auto found = InRules(name, kind, group)) return found;
      // These come last, because a custom resource may be called "users".
      if (auto found = Builtin(name, kind, group, /*served=*/false)) return found;
    }
    return std::nullopt;
  }

  bool KnowsGroup(std::string_view group) const {
    return IsBuiltinGroup(group) ||
           std::ranges::any_of(custom_, [&](const auto& r) { return r.group == group; }) ||
           std::ranges::any_of(named_, [&](const auto& r) { return r.first == group; });
  }

 private:
  // Finds a built-in resource; the core group comes before the others. `served` selects resources
  // that a server serves, or those that are only authorized.
  static std::optional<ResourceId> Builtin(std::string_view name, NameKind kind,
                                           std::optional<std::string_view> group, bool served) {
    std::optional<ResourceId> found;
    for (const BuiltinResource& r : BuiltinResources()) {
      if (group.has_value() && r.group != *group) continue;
      if ((KnowsVerb(r, "get") || KnowsVerb(r, "create")) != served) continue;
      if (!IsCalled(r, name, kind) || (found && !r.group.empty())) continue;
      found = {std::string(r.group), std::string(r.resource)};
    }
    return found;
  }

  std::optional<ResourceId> Custom(std::string_view name, NameKind kind,
                                   std::optional<std::string_view> group) const {
    for (const ResourceNames& r : custom_) {
      if (group.has_value() && r.group != *group) continue;
      if (IsCalled(r, name, kind)) return ResourceId{r.group, r.plural};
    }
    return std::nullopt;
  }

  // Finds the resource in the rules; nullopt if more than one resource matches.
  std::optional<ResourceId> InRules(std::string_view name, NameKind kind,
                                    std::optional<std::string_view> group) const {
    std::set<std::pair<std::string, std::string>> found;
    for (const auto& named : named_) {
      if (group.has_value() && named.first != *group) continue;
      if ((kind == NameKind::kPlural && named.second == name) ||
          (kind == NameKind::kSingular && IsPluralOf(named.second, name))) {
        found.insert(named);
      }
    }
    if (found.size() != 1) return std::nullopt;
    return ResourceId{found.begin()->first, found.begin()->second};
  }

  const std::vector<ResourceNames>& custom_;
  const std::set<std::pair<std::string, std::string>> named_;
};

std::vector<std::string> Words(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(separators, at)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::vector<ResourceNames> ParseApiResources(std::string_view text) {
  std::vector<ResourceNames> all;
  for (const std::string& line : Words(text, "\n")) {
    // NAME [SHORTNAMES] APIVERSION NAMESPACED KIND
    const std::vector<std::string> words = Words(line, " \t\r");
    const size_t n = words.size();
    if ((n != 4 && n != 5) || (words[n - 2] != "true" && words[n - 2] != "false")) continue;
    const std::string& version = words[n - 3];
    const size_t slash = version.find('/');
    all.push_back({slash == version.npos ? "" : version.substr(0, slash), words[0],
                   absl::AsciiStrToLower(words[n - 1]),
                   n == 5 ? Words(words[1], ",") : std::vector<std::string>()});
  }
  return all;
}

ResourceId FindResource(std::string_view type, const std::vector<ResourceNames>& custom,
                        const rbac::Policy& policy) {
  const std::string lower = absl::AsciiStrToLower(AsAbsl(type));
  const size_t dot = lower.find('.');
  const std::string name = lower.substr(0, dot);
  Finder finder(custom, policy);
  if (dot == lower.npos) return finder.Find(name, std::nullopt).value_or(ResourceId{"", name});
  const std::string group = lower.substr(dot + 1);
  const size_t second = group.find('.');
  const bool versioned = second != group.npos && IsVersion(group.substr(0, second));
  const std::string rest = versioned ? group.substr(second + 1) : group;
  if (auto found = finder.Find(name, rest)) return *found;
  if (auto found = finder.Find(name, group)) return *found;
  return {finder.KnowsGroup(group) ? group : rest, name};
}

}  // namespace mandate::rbacgen
