// Whether the certificates can be written.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"

namespace mandate::certificates {

// The results of the reconciles, as a check of the component's readiness. An error that lasts for
// longer than a minute fails the check: until then a retry may succeed. Thread-safe.
class WriteHealth {
 public:
  // The result of a reconcile that ended at `now`. A conflict (kAborted) changes nothing:
  // another replica has written, or the cache is behind.
  void Note(const absl::Status& result, absl::Time now);
  // OK, or the last error.
  absl::Status Ready() const;

 private:
  mutable Mutex mutex_;
  std::optional<absl::Time> failing_since_ ABSL_GUARDED_BY(mutex_);
  absl::Status reported_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::certificates
