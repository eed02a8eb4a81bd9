// Reads the snapshot for the plan of one ScopeTemplate from the cache.
#pragma once

#include "absl/status/statusor.h"
#include "controllers/scope/template_plan.h"
#include "manager/cache/cache_view.h"
#include "manager/core/call_context.h"

namespace mandate::scope {

// The cost depends on the template's instances, its roles, and the bindings of roles that are
// absent or lack a rule. An unreadable instance (unread.h) may reference the template
// (Referenced::kMaybe). Unreadable bindings may exist (BlockingBindings::read_error). So
// revocations do not wait for them. Other errors are CacheView's.
absl::StatusOr<TemplateSnapshot> ReadTemplateSnapshot(
    const CallContext& context, const CacheView& cache,
    operatorsv1alpha1::ScopeTemplate scope_template);

}  // namespace mandate::scope
