#include "controllers/certificates/write_health.h"

namespace mandate::certificates {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);

}  // namespace

void WriteHealth::Note(const absl::Status& result, absl::Time now) {
  if (absl::IsAborted(result)) return;
  MutexLock lock(mutex_);
  if (result.ok()) {
    failing_since_.reset();
    reported_ = absl::OkStatus();
    return;
  }
  if (!failing_since_.has_value()) failing_since_ = now;
  if (now - *failing_since_ > kPatience) reported_ = result;
}

absl::Status WriteHealth::Ready() const {
  MutexLock lock(mutex_);
  return reported_;
}

}  // namespace mandate::certificates
