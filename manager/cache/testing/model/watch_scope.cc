#include "manager/cache/testing/model/watch_scope.h"

#include "manager/cache/testing/watch_json.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"

namespace mandate::model {

bool WatchScope::Covers(const ObjectKey& key) const {
  return (ns.empty() || ns == key.ns) && (name.empty() || name == key.name);
}

bool WatchScope::Contains(const WatchScope& other) const {
  return (ns.empty() || ns == other.ns) && (name.empty() || name == other.name) &&
         (selector.empty() || selector == other.selector);
}

DemandSpec WatchScope::Spec() const { return {kWidget, ns, name, selector}; }

std::string WatchScope::ToString() const {
  return StrCat(ns, name.empty() ? "" : "/", name, selector.empty() ? "" : "?", selector);
}

WatchScope ParseScope(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return {std::string(text), ""};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::optional<WatchScope> ScopeOfTarget(std::string_view target) {
  constexpr std::string_view kRoot = "/apis/example.com/v1/";
  constexpr std::string_view kNamespaces = "namespaces/";
  constexpr std::string_view kName = "metadata.name=";
  if (!target.starts_with(kRoot)) return std::nullopt;
  WatchScope scope;
  std::string_view rest = target.substr(kRoot.size());
  if (rest.starts_with(kNamespaces)) {
    rest.remove_prefix(kNamespaces.size());
    scope.ns = std::string(rest.substr(0, rest.find('/')));
  }
  const std::string field = QueryOf(target, "fieldSelector");
  if (field.starts_with(kName)) scope.name = field.substr(kName.size());
  scope.selector = QueryOf(target, "labelSelector");
  return scope;
}

}  // namespace mandate::model
