#include "manager/client/retry_policy.h"

#include "absl/strings/cord.h"
#include "manager/client/eviction.h"
#include "manager/core/not_sent.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

constexpr char kAmbiguousUrl[] = "mandate/ambiguous";

}  // namespace

const char* ToString(RetryReason reason) {
  switch (reason) {
    case RetryReason::kNone:
      return "none";
    case RetryReason::kThrottled:
      return "throttled";
    case RetryReason::kNotSent:
      return "not_sent";
    case RetryReason::kRetryAfter:
      return "retry_after";
    case RetryReason::kConnection:
      return "connection";
  }
  return "";
}

RetryReason RetryReasonFor(int code, const absl::Status& error, bool idempotent) {
  if (code == 429) {
    // A budget of pods is an answer for the caller, which may last for hours.
    return IsBlockedByBudget(error) ? RetryReason::kNone : RetryReason::kThrottled;
  }
  if (code >= 500) {
    // Without Retry-After the same request would most likely meet the same error.
    const bool asked = idempotent && RetryAfter(error).has_value();
    return asked ? RetryReason::kRetryAfter : RetryReason::kNone;
  }
  // Our own bounds and deadlines are errors without an answer, too.
  if (code != 0 || !absl::IsUnavailable(error)) return RetryReason::kNone;
  if (WasNotSent(error)) return RetryReason::kNotSent;
  return idempotent ? RetryReason::kConnection : RetryReason::kNone;
}

bool MayHaveBeenProcessed(int code, const absl::Status& error) {
  // An answer below 500 is a denial. A higher one may come from a proxy, or after the write.
  return code >= 500 || (code == 0 && !WasNotSent(error));
}

absl::Status MarkOutcomeUnknown(absl::Status status) {
  // Only the last attempt was certainly not sent. An earlier one may have been carried out.
  if (WasNotSent(status)) status = absl::Status(status.code(), status.message());
  status.SetPayload(kAmbiguousUrl, absl::Cord());
  return status;
}

bool IsOutcomeUnknown(const absl::Status& status) {
  return status.GetPayload(kAmbiguousUrl).has_value();
}

}  // namespace mandate
