// Fences as ValidatingAdmissionPolicies.
#ifndef RBACGEN_FENCE_POLICY_H_
#define RBACGEN_FENCE_POLICY_H_

#include <string>
#include <string_view>
#include <vector>

#include "rbacgen/fence.h"
#include "rbacgen/object_maker.h"

namespace mandate::rbacgen {

// Adds the policy and its binding: the API server refuses a write by the component's ServiceAccount
// that is not as the fence says, and any when it cannot tell. Not in the identity mode single,
// where the server does not know whose a write is.
void AddFencePolicy(ObjectMaker& maker, const Fence& fence);

// What must hold of a write, in CEL. `variables.objects` is what there is of the object before and
// after.
struct FenceCheck {
  std::string expression;
  std::string message;
};
std::vector<FenceCheck> FenceChecks(const Fence& fence, std::string_view component);

// Whether `text`, an expression, matches the patterns (rbacgen/fence.h), in CEL.
std::string PatternsCel(const std::vector<std::string>& patterns, std::string_view text);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_FENCE_POLICY_H_
