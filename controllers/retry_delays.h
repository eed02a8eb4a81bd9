// The delays before a denied write is tried again.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// The longest delay if no event reports the end of the problem: an admission plugin now accepts the
// write, a grant was added, or a finalizer or owner reference of somebody else was removed.
inline constexpr absl::Duration kLongestRetry = absl::Minutes(1);

// The delays of all objects: an object's delay doubles each time it is denied. Thread-safe.
class RetryDelays {
 public:
  struct Options {
    absl::Duration first = absl::Seconds(10);
    absl::Duration longest = kLongestRetry;
  };

  RetryDelays() : RetryDelays(Options()) {}
  explicit RetryDelays(Options options) : options_(options) {}

  // The delay before the next try.
  absl::Duration Next(const ObjectKey& key);
  // The object was not denied, or is gone.
  void Reset(const ObjectKey& key);

 private:
  const Options options_;
  Mutex mutex_;
  absl::flat_hash_map<ObjectKey, absl::Duration> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
