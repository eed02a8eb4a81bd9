#include "controllers/write_log.h"

#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// The same error, which now says of what.
absl::Status Of(std::string_view what, const absl::Status& status) {
  absl::Status named(status.code(), StrCat(what, ": ", AsStd(status.message())));
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

}  // namespace

void WriteLog::Failed(std::string_view what, const absl::Status& status) {
  const absl::Status named = Of(what, status);
  failures_.emplace_back(named.message());
  if (!absl::IsPermissionDenied(status)) first_retryable_.Update(named);
}

void WriteLog::AddRemoval(std::string_view what, const absl::Status& status) {
  // Conflict: another object stands under that name by now.
  if (status.ok() || IsNotFound(status) || IsConflict(status)) return;
  Failed(StrCat("deleting ", what), status);
}

absl::StatusOr<Result> WriteLog::ToResult(absl::Duration forbidden_retry) const {
  if (!first_retryable_.ok()) return first_retryable_;
  Result result;
  if (!failures_.empty()) result.requeue_after = forbidden_retry;
  return result;
}

}  // namespace mandate
