// A Reflector within its limits of memory.
#include <algorithm>

#include "manager/cache/reflector.h"
#include "manager/core/strings.h"

namespace mandate {

bool Reflector::EnterBudget() {
  // An eviction that is due is of this attempt, too.
  if (!evict_timer_.IsSet()) account_.Renew();
  const absl::Status entered = account_.Open();
  if (!entered.ok()) {
    evict_timer_.SetAfter(absl::ZeroDuration(), [this, entered] { OnEvicted(entered); });
  }
  return entered.ok();
}

bool Reflector::MayStart() {
  const bool is_denied =
      status_.state == DemandState::kForbidden || status_.state == DemandState::kKindAbsent;
  return is_denied || EnterBudget();
}

absl::Status Reflector::Admit(size_t bytes) {
  if (bytes > options_.max_bytes) {
    return absl::ResourceExhaustedError(StrCat("there are more than ", options_.max_bytes,
                                               " bytes of ", spec_.ToString(),
                                               ": raise max_bytes (--max-watch-size), or "
                                               "demand a narrower scope"));
  }
  return account_.Set(std::max(bytes, store_.bytes().stored));
}

void Reflector::OnTooManyBytes(const absl::Status& why) {
  evict_timer_.Cancel();
  Stop();
  counts_->overflows.Increment();
  Fail(why, Next::kPass);
  MakeRoom();
}

void Reflector::OnEvicted(const absl::Status& why) {
  // A denial stays, and has its own wait.
  if (status_.state == DemandState::kForbidden || status_.state == DemandState::kKindAbsent) {
    return owner_.OnEvicted();
  }
  OnTooManyBytes(why);
}

void Reflector::MakeRoom() {
  if (phase_ != Phase::kWaiting || !account_.exceeded() || !account_.IsDemanded()) return;
  const absl::Status why = status_.reason;
  owner_.OnEvicted();
  SetStatus(DemandState::kPending, why, /*failed=*/true);
}

}  // namespace mandate
