// How a controller names the part of a kind that it demands.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "manager/cache/cache_view.h"
#include "manager/object/kind.h"
#include "manager/object/selector.h"

namespace mandate {

// The scope of a demand: the objects in a namespace, or one object. `ns` is empty for kinds
// without namespaces.
struct InNamespace {
  std::string ns;
  // The server applies it: other objects do not leave the server. `Get` of an object that it does
  // not select is then an error, because whether it exists is unknown.
  LabelSelector labels = {};
};
struct OneObject {
  std::string ns;
  std::string name;
};
template <class T>
concept DemandScope = std::same_as<T, InNamespace> || std::same_as<T, OneObject>;

namespace demand_scope_internal {

inline std::string Given(std::string text) {
  return text.empty() ? std::string(DemandSpec::kEmpty) : std::move(text);
}

template <Watchable T>
std::string NamespaceOf(std::string ns) {
  return KindOf<T>::value.scope == Scope::kCluster ? std::string() : Given(std::move(ns));
}

}  // namespace demand_scope_internal

// The demand for the objects of T in a scope; without one, in the whole cluster. A namespace or
// name that is empty makes the demand narrower, not wider: it is denied (cache/check_demand.h).
template <Watchable T>
DemandSpec DemandOf() {
  return {KindOf<T>::value, "", ""};
}
template <Watchable T>
DemandSpec DemandOf(InNamespace scope) {
  return {KindOf<T>::value, demand_scope_internal::NamespaceOf<T>(std::move(scope.ns)), "",
          scope.labels.ToString()};
}
template <Watchable T>
DemandSpec DemandOf(OneObject scope) {
  return {KindOf<T>::value, demand_scope_internal::NamespaceOf<T>(std::move(scope.ns)),
          demand_scope_internal::Given(std::move(scope.name))};
}

}  // namespace mandate
