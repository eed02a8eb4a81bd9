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
// on the instance's namespaces, its bindings, and its template's roles. If objects of a kind cannot
// be read (unread.h), the snapshot has the error and the rest, so that no revocation waits for
// them. Other errors of CacheView are returned.
absl::StatusOr<InstanceSnapshot> ReadInstanceSnapshot(const CallContext& context,
                                                      const CacheView& cache,
                                                      operatorsv1alpha1::ScopeInstance instance);

struct KnownBindings {
  std::vector<Binding> bindings;
  // The error of reading the bindings of a kind (unread.h). `bindings` then has the other kind's.
  absl::Status read_error;
};

// The bindings whose controller is a ScopeInstance of this name. Other errors are returned.
absl::StatusOr<KnownBindings> ReadBindingsOf(const CallContext& context, const CacheView& cache,
                                             std::string_view instance_name);

// The binding of this key; kNotFound if it is certainly absent.
absl::StatusOr<Binding> ReadBinding(const CallContext& context, const CacheView& cache,
                                    const ObjectKey& key);

}  // namespace mandate::scope
