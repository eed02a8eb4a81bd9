// RBAC rules and the exact matching of the API server's authorizer
// (k8s.io/kubernetes: pkg/apis/rbac/v1/evaluation_helpers.go, plugin/pkg/auth/authorizer/rbac).
//
// Everything matches case-sensitively and by whole strings; the API version is never considered.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbac {

// rbac/v1 PolicyRule.
struct Rule {
  std::vector<std::string> verbs = {};
  std::vector<std::string> api_groups = {};
  std::vector<std::string> resources = {};  // "pods", "pods/log", "*", "*/scale"
  std::vector<std::string> resource_names = {};
  std::vector<std::string> non_resource_urls = {};

  bool operator==(const Rule&) const = default;
  auto operator<=>(const Rule&) const = default;
};

// A PolicyRule with borrowed strings, for the compile-time tables of mandates.
struct RuleView {
  std::span<const std::string_view> verbs = {};
  std::span<const std::string_view> api_groups = {};
  std::span<const std::string_view> resources = {};
  std::span<const std::string_view> resource_names = {};
  std::span<const std::string_view> non_resource_urls = {};
};

// The attributes of a request, as in the API server's RequestInfo.
struct Attributes {
  std::string verb;  // get, list, watch, create, update, patch, delete, deletecollection, bind, …
  bool is_resource_request = true;
  std::string api_group;
  std::string api_version;
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;
  std::string path;  // of a non-resource request

  bool operator==(const Attributes&) const = default;
};

namespace internal {
template <class Strings>
constexpr bool HasOrAny(const Strings& strings, std::string_view wanted) {
  for (std::string_view s : strings) {
    if (s == "*" || s == wanted) return true;
  }
  return false;
}
}  // namespace internal

template <class AnyRule>
constexpr bool VerbMatches(const AnyRule& rule, std::string_view verb) {
  return internal::HasOrAny(rule.verbs, verb);
}

template <class AnyRule>
constexpr bool GroupMatches(const AnyRule& rule, std::string_view group) {
  return internal::HasOrAny(rule.api_groups, group);
}

// "*" matches every resource and subresource, and "*/scale" that subresource of every resource.
template <class AnyRule>
constexpr bool ResourceMatches(const AnyRule& rule, std::string_view resource,
                               std::string_view subresource) {
  for (std::string_view r : rule.resources) {
    if (r == "*") return true;
    if (subresource.empty()) {
      if (r == resource) return true;
      continue;
    }
    if (r.size() != resource.size() + 1 + subresource.size() &&
        r.size() != 2 + subresource.size()) {
      continue;
    }
    if (!r.ends_with(subresource) || r[r.size() - subresource.size() - 1] != '/') continue;
    const std::string_view parent = r.substr(0, r.size() - subresource.size() - 1);
    if (parent == "*" || parent == resource) return true;
  }
  return false;
}

// A rule with names does not match a request without a name: create by POST, deletecollection, and
// list and watch without a field selector on metadata.name.
template <class AnyRule>
constexpr bool NameMatches(const AnyRule& rule, std::string_view name) {
  bool any = true;
  for (std::string_view n : rule.resource_names) {
    if (n == name) return true;
    any = false;
  }
  return any;
}

// Trailing stars, one or more, make the entry a prefix. A star elsewhere is an ordinary character.
template <class AnyRule>
constexpr bool UrlMatches(const AnyRule& rule, std::string_view path) {
  for (std::string_view u : rule.non_resource_urls) {
    if (u == "*" || u == path) return true;
    if (!u.ends_with('*')) continue;
    while (u.ends_with('*')) u.remove_suffix(1);
    if (path.starts_with(u)) return true;
  }
  return false;
}

// Whether `rule` alone allows the request. The caller checks the namespace, which depends on the
// binding.
template <class AnyRule>
constexpr bool RuleAllows(const AnyRule& rule, const Attributes& request) {
  if (!request.is_resource_request) {
    return VerbMatches(rule, request.verb) && UrlMatches(rule, request.path);
  }
  return VerbMatches(rule, request.verb) && GroupMatches(rule, request.api_group) &&
         ResourceMatches(rule, request.resource, request.subresource) &&
         NameMatches(rule, request.name);
}

}  // namespace mandate::rbac
