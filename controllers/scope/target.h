// The target of a ScopeInstance: where it wants its bindings.
#ifndef CONTROLLERS_SCOPE_TARGET_H_
#define CONTROLLERS_SCOPE_TARGET_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controllers/scope/kinds.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/selector.h"

namespace mandate::scope {

struct Target {
  // The whole cluster: neither namespaces nor a selector are given. A selector that matches
  // nothing, or that is invalid, is not that.
  bool cluster = false;
  // Namespaces that exist and take new objects.
  std::set<std::string> usable;
  // Namespaces that exist and are being deleted.
  std::set<std::string> terminating;
  // Every named one, whether or not it exists.
  absl::flat_hash_set<std::string> named;
  // The selector is invalid: which other namespaces it means is not known. kInvalidArgument names
  // the field.
  absl::Status invalid;
  // Namespaces cannot be read: which of them the selector means is not known.
  bool unread_selection = false;
  // `namespace "x" not found`; many are summed up in one.
  std::vector<std::string> problems;

  // Whether a binding in this namespace, or in the cluster when it is empty, may be wanted: false
  // only when it certainly is not.
  bool MayContain(const std::string& ns) const;
};

// `namespaces`: at least those that exist of the named ones and those that the selector matches;
// `unread`: why that is not known.
Target ResolveTarget(const operatorsv1alpha1::ScopeInstance& instance,
                     const std::vector<corev1::Namespace>& namespaces,
                     const absl::Status& unread = absl::OkStatus());

// Nullopt: the instance has none. An empty selector matches every namespace. kInvalidArgument names
// the field of an invalid selector.
absl::StatusOr<std::optional<LabelSelector>> NamespaceSelector(
    const operatorsv1alpha1::ScopeInstance& instance);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TARGET_H_
