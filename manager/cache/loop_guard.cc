#include "manager/cache/loop_guard.h"

#include "manager/core/strings.h"

namespace mandate {

absl::Status CheckMayWait(const Loop& loop, const CallContext& context, std::string_view call,
                          const DemandSpec& asked) {
  if (context.deadline == absl::InfinitePast() || loop.CanAwait()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(call, " of ", asked.ToString(), " was called on the event loop with a context that ",
             "may wait, and would stop every component: pass WithoutWaiting(), or read in a ",
             "reconciler"));
}

}  // namespace mandate
