// Fences as ValidatingAdmissionPolicies.
#ifndef RBACGEN_EMIT_CHART_FENCE_POLICY_H_
#define RBACGEN_EMIT_CHART_FENCE_POLICY_H_

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

// With Fence::guard, adds a policy and its binding about the writes of all other users. It must
// also exist while the component is disabled: the component's objects still exist, and objects that
// others make under its names would wait for its return.
void AddGuardPolicy(ObjectMaker& maker, const Fence& fence);

// The checks of a write, in CEL: those of `fence`, whose patterns must not have kBaseNameWord, and
// those that every fence has: no change of controller, no unnamed finalizers, no
// aggregationRule for a ClusterRole. Labels, finalizers and subjects that were there before are not
// checked, so that a fence never stops the component from correcting the rest. The variables are
// FenceVariables().
struct FenceCheck {
  std::string expression;
  std::string message;
  // Set: it holds only where ScopeInstances grant components what is granted=external, or do not.
  std::optional<bool> external_grants = {};
};
std::vector<FenceCheck> FenceChecks(const Fence& fence, std::string_view component,
                                    std::string_view base_name);

// The checks of an update of an object that was the component's own, and of a create with a name
// that is reserved to the component, unless the requester may update the finalizers of
// Fence::guard. The component itself, administrators of the cluster and Kubernetes' garbage
// collection may. The variables are FenceVariables().
std::vector<FenceCheck> GuardChecks(const Fence& fence);

// Names and expressions: `objects`, what there is of the object before and after; `newLabels`, the
// keys of the labels that the write adds or changes; `newFinalizers`.
std::vector<std::pair<std::string, std::string>> FenceVariables();

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_FENCE_POLICY_H_
