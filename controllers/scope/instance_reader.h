// Reads the snapshot for the plan of one ScopeInstance from the cache.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/instance_plan.h"
#include "manager/cache/cache_view.h"
#include "manager/core/call_context.h"

namespace mandate::scope {

// Reads everything except for the scopes of resources, which are not in the cache. The cost depends
// on the instance's namespaces, its bindings, and its template's roles. If namespaces, the template
// or its roles cannot be read (unread.h), the snapshot has the error and the rest, so that no
// revocation waits for them. Other errors of CacheView are returned.
absl::StatusOr<InstanceSnapshot> ReadInstanceSnapshot(const CallContext& context,
                                                      const CacheView& cache,
                                                      operatorsv1alpha1::ScopeInstance instance);

// The bindings whose controller is a ScopeInstance of this name.
absl::StatusOr<std::vector<Binding>> ReadBindingsOf(const CallContext& context,
                                                    const CacheView& cache,
                                                    std::string_view instance_name);

// The binding of this key; kNotFound if it is certainly absent.
absl::StatusOr<Binding> ReadBinding(const CallContext& context, const CacheView& cache,
                                    const ObjectKey& key);

}  // namespace mandate::scope
