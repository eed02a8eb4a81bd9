// Reads what the plan of one ScopeTemplate needs out of the cache.
#ifndef CONTROLLERS_SCOPE_TEMPLATE_READER_H_
#define CONTROLLERS_SCOPE_TEMPLATE_READER_H_

#include "absl/status/statusor.h"
#include "controllers/scope/template_plan.h"
#include "manager/cache/cache_view.h"
#include "manager/core/call_context.h"

namespace mandate::scope {

// Costs what the template concerns: its instances, its roles, and the bindings of roles that are
// absent or lack a rule. An instance that is unread (unread.h) may reference the template
// (Referenced::kMaybe), and so may all of them when none can be read; bindings that cannot be read
// may stand (Standing::unread), so that revocations do not wait for them. Other errors are
// CacheView's.
absl::StatusOr<TemplateSnapshot> ReadTemplateSnapshot(
    const CallContext& context, const CacheView& cache,
    operatorsv1alpha1::ScopeTemplate scope_template);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TEMPLATE_READER_H_
