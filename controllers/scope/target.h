// Where a ScopeInstance wants its bindings.
#ifndef CONTROLLERS_SCOPE_TARGET_H_
#define CONTROLLERS_SCOPE_TARGET_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/scope/kinds.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/selector.h"

namespace mandate::scope {

struct Target {
  // The whole cluster: neither namespaces nor a selector are given. A selector that matches nothing
  // is not that.
  bool cluster = false;
  // Named ones, whether or not they exist, and those that the selector matches.
  std::set<std::string> namespaces;
  // The part of `namespaces` that exists and takes new objects.
  std::set<std::string> usable;
  // `namespace "x" not found`, for each named one that is not usable.
  std::vector<std::string> problems;
};

// kInvalidArgument names the field of a selector that is none.
absl::StatusOr<Target> ResolveTarget(const operatorsv1alpha1::ScopeInstance& instance,
                                     const std::vector<corev1::Namespace>& namespaces);

// Nullopt: the instance has none. An empty selector matches every namespace.
absl::StatusOr<std::optional<LabelSelector>> NamespaceSelector(
    const operatorsv1alpha1::ScopeInstance& instance);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TARGET_H_
