// Fences as ValidatingAdmissionPolicies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/fence.h"

namespace mandate::rbacgen {

// Adds the policy and its binding: the API server denies a write by the component's ServiceAccount
// that violates the fence, and each write if it cannot evaluate the policy. Not in the identity
// mode single, where the server cannot distinguish the components.
void AddFencePolicy(ObjectMaker& maker, const Fence& fence);

// If Fence::guard is set, adds a policy and its binding for the writes of all other users. They
// must exist also while the component is disabled: its objects still exist then, and objects that
// others create under its names would be there when it is enabled again.
void AddGuardPolicy(ObjectMaker& maker, const Fence& fence);

// The checks of a write, in CEL: those of `fence`, whose patterns must not contain kBaseNameWord,
// and those that every fence has: no change of the controller, no unnamed finalizers, no
// aggregationRule in a ClusterRole. Labels, finalizers and subjects that the object already had are
// not checked, so a fence never prevents the component from correcting the rest. The variables are
// FenceVariables().
struct FenceCheck {
  std::string expression;
  std::string message;
  // If set, the check applies only if ScopeInstances grant the external rules (true), or only if
  // they do not (false).
  std::optional<bool> external_grants = {};
};
std::vector<FenceCheck> FenceChecks(const Fence& fence, std::string_view component,
                                    std::string_view base_name);

// The checks of an update of an object that belonged to the component, and of a create with a name
// that is reserved for the component. They allow users that may update the finalizers of
// Fence::guard; the component itself, cluster administrators and Kubernetes' garbage collector have
// this right. The variables are FenceVariables().
std::vector<FenceCheck> GuardChecks(const Fence& fence);

// Names and expressions: `objects` is the object before and after the write, as far as it exists;
// `newLabels` is the keys of the labels that the write adds or changes; `newFinalizers` likewise.
std::vector<std::pair<std::string, std::string>> FenceVariables();

}  // namespace mandate::rbacgen
