// The fence of base: for what it may ask when it requests the components' tokens.
#ifndef RBACGEN_EMIT_CHART_TOKEN_FENCE_H_
#define RBACGEN_EMIT_CHART_TOKEN_FENCE_H_

#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

// Adds the policy and its binding. RBAC says whose tokens base may request, and nothing about what
// tokens: good for a century, for any audience, bound to nothing that anybody could delete. The
// policy lets base ask as the manager does, so that a stolen credential of base buys an hour at a
// time. In the identity mode token.
void AddTokenFence(ObjectMaker& maker);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_TOKEN_FENCE_H_
