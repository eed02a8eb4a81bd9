#include "controllers/write_log.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// The same error, with `what` in front of its message.
absl::Status Of(std::string_view what, const absl::Status& status) {
  absl::Status named(status.code(), StrCat(what, ": ", AsStd(status.message())));
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

}  // namespace

void WriteLog::Failed(std::string_view what, const absl::Status& status,
                      std::vector<std::string>& list) {
  if (!patient_ && absl::IsDeadlineExceeded(status)) {
    cut_short_ = true;
    return;
  }
  const absl::Status named = Of(what, status);
  list.emplace_back(named.message());
  retry_after_ = std::max(retry_after_, RetryAfter(status).value_or(absl::ZeroDuration()));
  if (absl::IsPermissionDenied(status)) {
    forbidden_ = true;
  } else {
    first_retryable_.Update(named);
  }
}

void WriteLog::AddRemoval(std::string_view what, std::string_view name,
                          const absl::Status& status) {
  // A conflict means that another object has the name now.
  if (status.ok() ||
      ((IsNotFound(status) || IsConflict(status)) && IsServerErrorAbout(status, name)))
    return;
  Failed(StrCat("deleting ", what), status, removal_failures_);
}

void WriteLog::AddDifference(std::string_view what, std::string_view difference) {
  differs_ = true;
  failures_.push_back(StrCat(what, ": another writer (an admission plugin or another controller) ",
                             "changes its ", difference,
                             " after each of our writes; we retry with a growing delay"));
}

void WriteLog::AddPending(std::string_view what) {
  pending_ = true;
  removal_failures_.push_back(
      StrCat(what, " is being deleted: finalizers that were just added block its deletion"));
}

void WriteLog::AddOutdated(std::string_view what, const absl::Status& conflict) {
  Failed(StrCat("deleting ", what), conflict, removal_failures_);
}

absl::StatusOr<Result> WriteLog::ToResult(absl::Duration forbidden_retry) const {
  if (!first_retryable_.ok()) return first_retryable_;
  Result result;
  if (forbidden_) result.requeue_after = forbidden_retry;
  return result;
}

}  // namespace mandate
