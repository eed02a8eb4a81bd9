// The fence of base: it limits the components' tokens that base may request.
#pragma once

#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

// Adds the policy and its binding. RBAC limits the ServiceAccounts of these tokens, but not their
// lifetime, audience or bound object. The policy allows only requests like the manager's, so a
// stolen credential of base gets tokens that are valid for at most an hour. Only in the identity
// mode token.
void AddTokenFence(ObjectMaker& maker);

}  // namespace mandate::rbacgen
