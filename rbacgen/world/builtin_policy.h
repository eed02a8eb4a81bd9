// The roles and bindings that every API server makes when it starts (Kubernetes' bootstrap policy).
#pragma once

#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// The objects of Kubernetes 1.36 with its default feature gates, from k8s.io/kubernetes'
// pkg/auth/authorizer/rbac/bootstrappolicy. Aggregated roles are not resolved.
const World& BuiltinPolicy();
// The objects of Kubernetes 1.30, the oldest version that the chart supports.
const World& OldestBuiltinPolicy();

// Adds the built-in roles that the world's bindings refer to and that the world does not have, with
// the roles that they aggregate: those of 1.36 to its policy, those of 1.30 to in_oldest. Must be
// called before ResolveAggregates(), so that the world's own roles with the label aggregate-to-view
// become part of view. Adds nothing to a whole cluster.
void AddBuiltinRoles(World* world);

// Adds all built-in roles and bindings that the world does not have, and the ServiceAccounts of
// these bindings, which exist in every cluster. The first overload adds those of one version. The
// second adds roles with the rules of both versions, because overstating the reach of a user is the
// safer error.
void AddBuiltinPolicy(const World& builtin, World* world);
void AddBuiltinPolicy(World* world);

}  // namespace mandate::rbacgen
