#include "controllers/write_log.h"

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// Resource versions of one server are decimal numbers that grow (KEP-5504).
bool IsNewer(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

// The same error, which now says of what.
absl::Status Of(std::string_view what, const absl::Status& status) {
  absl::Status named(status.code(), StrCat(what, ": ", AsStd(status.message())));
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

}  // namespace

void WriteLog::Wrote(const KindInfo& kind, std::string_view resource_version) {
  auto& [info, newest] = newest_[StrCat(kind.plural, ".", kind.group)];
  info = kind;
  if (IsNewer(resource_version, newest)) newest = std::string(resource_version);
}

void WriteLog::Failed(std::string_view what, const absl::Status& status) {
  const absl::Status named = Of(what, status);
  failures_.emplace_back(named.message());
  if (!absl::IsPermissionDenied(status)) first_retryable_.Update(named);
}

void WriteLog::AddRemoval(std::string_view what, const KindInfo& kind, const ObjectKey& key,
                          std::string_view uid, const absl::Status& status) {
  // Conflict: another object stands under that name by now.
  if (status.ok() || IsNotFound(status) || IsConflict(status)) {
    removed_.push_back({kind, key, std::string(uid)});
  } else {
    Failed(StrCat("deleting ", what), status);
  }
}

absl::Status WriteLog::AwaitSeen(const CallContext& context, CacheView& view) const {
  for (const auto& [name, write] : newest_) {
    RETURN_IF_ERROR(view.WaitUntilSeen(context, write.first, write.second));
  }
  for (const Removed& r : removed_) {
    RETURN_IF_ERROR(view.WaitUntilGone(context, r.kind, r.key, r.uid));
  }
  return absl::OkStatus();
}

absl::StatusOr<Result> WriteLog::ToResult(absl::Duration forbidden_retry) const {
  if (!first_retryable_.ok()) return first_retryable_;
  Result result;
  if (!failures_.empty()) result.requeue_after = forbidden_retry;
  return result;
}

}  // namespace mandate
