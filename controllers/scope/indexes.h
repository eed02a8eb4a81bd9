// The indexes of the scope components, with which an event or a reconcile reads only the objects
// that it concerns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "controllers/scope/kinds.h"
#include "manager/cache/cache_view.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/selector.h"

namespace mandate::scope {

// Indexes of ScopeInstances.
inline constexpr std::string_view kByTemplate = "spec.scopeTemplateName";
inline constexpr std::string_view kByNamespace = "spec.namespaces";
// One requirement of the selector, as "key=value", or kAnyLabel if none is an equality.
inline constexpr std::string_view kBySelector = "spec.namespaceSelector";
inline constexpr std::string_view kAnyLabel = "*";
inline constexpr std::string_view kByUid = "metadata.uid";
// The InstancePart() of the names of their bindings.
inline constexpr std::string_view kByNamePart = "bindings.name.part";
// An index of ScopeTemplates: the names of their ClusterRoles.
inline constexpr std::string_view kByRoleName = "spec.clusterRoles.name";
// An index of ClusterRoles and bindings.
inline constexpr std::string_view kByController = "controller.uid";
inline constexpr std::string_view kByUidLabel = "label.uid";
// An index of bindings: the name of the ScopeInstance that is the controller.
inline constexpr std::string_view kByInstanceName = "controller.name";
// An index of bindings: the name of their ClusterRole.
inline constexpr std::string_view kByRoleRef = "roleRef.name";
// An index of bindings with a name that a ScopeInstance makes, but without a ScopeInstance as
// controller: the InstancePartOf() the name.
inline constexpr std::string_view kByStrayName = "stray.name.part";
// An index of Namespaces: each label, as "key=value".
inline constexpr std::string_view kByLabel = "metadata.labels";

// Declares the indexes of one component; the first function only kByTemplate. Must precede its
// first demand.
absl::Status DeclareTemplateIndex(CacheView& cache);
absl::Status DeclareTemplateIndexes(CacheView& cache);
absl::Status DeclareInstanceIndexes(CacheView& cache);

// The kBySelector value of a selector: a label that each matching Namespace has, or kAnyLabel.
std::string SelectorIndexValue(const LabelSelector& selector);

}  // namespace mandate::scope
