// How long to wait before something that was denied is tried again.
#ifndef CONTROLLERS_RETRY_DELAYS_H_
#define CONTROLLERS_RETRY_DELAYS_H_

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// The longest wait for what no event reports: that an admission plugin has changed its mind, that a
// grant has come, that somebody else's finalizer or owner reference holds an object no longer.
inline constexpr absl::Duration kLongestRetry = absl::Minutes(1);

// Delays that double for each object, as long as it is denied again. Thread-safe.
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

#endif  // CONTROLLERS_RETRY_DELAYS_H_
