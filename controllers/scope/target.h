// The target of a ScopeInstance: the namespaces of its bindings, or the cluster.
#pragma once

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
  // Whether the target is the whole cluster: neither namespaces nor a selector are given. A
  // selector that is invalid or matches nothing does not mean the cluster.
  bool cluster = false;
  // Existing namespaces that are not being deleted.
  std::set<std::string> usable;
  // Namespaces that exist and are being deleted.
  std::set<std::string> terminating;
  // Every named namespace, whether or not it exists.
  absl::flat_hash_set<std::string> named;
  // The error of an invalid selector: its namespaces are unknown. kInvalidArgument names the field.
  absl::Status invalid;
  // The error of reading namespaces: the selected ones are unknown.
  bool unread_selection = false;
  // `namespace "x" not found`. One message summarizes many namespaces.
  std::vector<std::string> problems;

  // Whether a binding in this namespace (empty: in the cluster) may be wanted. False only if it
  // certainly is not.
  bool MayContain(const std::string& ns) const;
};

// `namespaces`: at least the existing ones that are named or selected. `unread`: the error of
// reading them.
Target ResolveTarget(const operatorsv1alpha1::ScopeInstance& instance,
                     const std::vector<corev1::Namespace>& namespaces,
                     const absl::Status& unread = absl::OkStatus());

// Nullopt if the instance has no selector. An empty selector matches every namespace.
// kInvalidArgument names the field of an invalid selector.
absl::StatusOr<std::optional<LabelSelector>> NamespaceSelector(
    const operatorsv1alpha1::ScopeInstance& instance);

}  // namespace mandate::scope
