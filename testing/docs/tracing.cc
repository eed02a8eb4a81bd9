// The block of docs/tracing.md, with what its reader has at that place.
#include <string>

#include "manager/core/trace.h"

namespace mandate::docs {

absl::Status Read();

absl::Status Audit(Tracer* tracer, const std::string& name_of_namespace) {
#include "testing/docs/tracing_1.inc"
  return status;
}

}  // namespace mandate::docs
