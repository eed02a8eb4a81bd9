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

// Adds the policy and its binding: the API server refuses a write by the component's ServiceAccount
// that is not as the fence says, and any when it cannot tell. Not in the identity mode single,
// where the server does not know whose a write is.
void AddFencePolicy(ObjectMaker& maker, const Fence& fence);

// With Fence::guard, adds a policy and its binding about the writes of everybody else. It must also
// be there while the component is not: what the component made is still there, and what others make
// under the component's names waits for its return.
void AddGuardPolicy(ObjectMaker& maker, const Fence& fence);

// What must hold of a write, in CEL: what `fence` says, whose patterns have no kBaseNameWord; and
// the checks that every fence has: no change of controller, no finalizers that are not named, no
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

// What must hold of an update of an object that was the component's own, and of the making of an
// object with a name that is reserved to it, unless the requester may update the finalizers of
// Fence::guard. The component itself, administrators of the cluster and Kubernetes' garbage
// collection may. The variables are FenceVariables().
std::vector<FenceCheck> GuardChecks(const Fence& fence);

// Names and expressions: `objects`, what there is of the object before and after; `newLabels`, the
// keys of the labels that the write adds or changes; `newFinalizers`.
std::vector<std::pair<std::string, std::string>> FenceVariables();

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_FENCE_POLICY_H_
