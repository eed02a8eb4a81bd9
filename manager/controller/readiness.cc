#include "manager/controller/readiness.h"

#include "manager/core/strings.h"

namespace mandate {

void Readiness::Add(absl::StatusCode code, std::string_view why) {
  if (code_ == absl::StatusCode::kOk) code_ = code;
  StrAppend(&why_, why_.empty() ? "" : "; ", why);
}

void Readiness::AddSource(std::string_view source, const DemandStatus& status, bool delivered) {
  if (status.state == DemandState::kSynced) return;
  const std::string what = StrCat(delivered ? "lost " : "waits for ", source);
  if (status.reason.ok()) {
    Add(absl::StatusCode::kUnavailable, what);
  } else {
    Add(status.reason.code(), StrCat(what, ": ", AsStd(status.reason.message())));
  }
}

absl::Status Readiness::ToStatus() const {
  if (code_ == absl::StatusCode::kOk) return absl::OkStatus();
  return absl::Status(code_, StrCat(who_, ": ", why_));
}

}  // namespace mandate
