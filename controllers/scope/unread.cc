#include "controllers/scope/unread.h"

namespace mandate::scope {

bool UnavailableSince::MayReport(const ObjectKey& of, const absl::Status& error, absl::Time now) {
  MutexLock lock(mutex_);
  if (!absl::IsUnavailable(error)) {
    since_.erase(of);
    return true;
  }
  return now - since_.try_emplace(of, now).first->second >= kReported;
}

void UnavailableSince::Forget(const ObjectKey& of) {
  MutexLock lock(mutex_);
  since_.erase(of);
}

}  // namespace mandate::scope
