// Rejects reads of the cache that could wait on the event loop, because the loop would wait for
// itself.
#ifndef MANAGER_CACHE_LOOP_GUARD_H_
#define MANAGER_CACHE_LOOP_GUARD_H_

#include <string_view>

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"

namespace mandate {

// kFailedPrecondition if a task of `loop` makes the call with a context that may wait, even if this
// call would not have to wait. The message names the call, the objects, and WithoutWaiting().
absl::Status CheckMayWait(const Loop& loop, const CallContext& context, std::string_view call,
                          const DemandSpec& asked);

}  // namespace mandate

#endif  // MANAGER_CACHE_LOOP_GUARD_H_
