// The block of docs/tracing.md, with what its reader has at that place.
#include "manager/controller/request.h"
#include "manager/core/call_context.h"
#include "manager/core/trace.h"

namespace mandate::docs {

absl::Status Compare(const CallContext& context, const Request& request);

absl::Status Reconcile(const CallContext& context, const Request& request) {
#include "testing/docs/tracing_1.inc"
  return status;
}

}  // namespace mandate::docs
