// The indexes of the scope components: an event or a reconcile reads only the objects that it
// concerns, not all objects of a kind.
#ifndef CONTROLLERS_SCOPE_INDEXES_H_
#define CONTROLLERS_SCOPE_INDEXES_H_

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

// Of ScopeInstances.
inline constexpr std::string_view kByTemplate = "spec.scopeTemplateName";
inline constexpr std::string_view kByNamespace = "spec.namespaces";
// One requirement of the selector, as "key=value", or kAnyLabel when none is an equality.
inline constexpr std::string_view kBySelector = "spec.namespaceSelector";
inline constexpr std::string_view kAnyLabel = "*";
inline constexpr std::string_view kByUid = "metadata.uid";
// The InstancePart() of their bindings' names.
inline constexpr std::string_view kByNamePart = "bindings.name.part";
// Of ScopeTemplates: the names of their ClusterRoles.
inline constexpr std::string_view kByRoleName = "spec.clusterRoles.name";
// Of ClusterRoles and bindings.
inline constexpr std::string_view kByController = "controller.uid";
inline constexpr std::string_view kByUidLabel = "label.uid";
// Of bindings: the name of the ScopeInstance that is the controller.
inline constexpr std::string_view kByInstanceName = "controller.name";
// Of bindings: the name of the ClusterRole that they refer to.
inline constexpr std::string_view kByRoleRef = "roleRef.name";
// Of bindings with a name that a ScopeInstance makes, and another controller or none: the
// InstancePartOf() the name.
inline constexpr std::string_view kByStrayName = "stray.name.part";
// Of Namespaces: each label, as "key=value".
inline constexpr std::string_view kByLabel = "metadata.labels";

// Declares the indexes of one component; before its first demand.
absl::Status DeclareTemplateIndexes(CacheView& cache);
absl::Status DeclareInstanceIndexes(CacheView& cache);

// The kBySelector value of a selector: a Namespace that it matches has that label, or the value is
// kAnyLabel.
std::string SelectorIndexValue(const LabelSelector& selector);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_INDEXES_H_
