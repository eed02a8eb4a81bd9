// Bounds how often one object is fixed after another writer changed it.
#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"

namespace mandate {

// A token bucket for each object. Two controllers that do not agree about an object would write it
// as fast as the API server answers: each write is an event for the other. A person's edits are
// fixed at once. Thread-safe.
class ObjectFixLimiter {
 public:
  struct Options {
    int burst = 5;                              // fixes without a delay
    absl::Duration first = absl::Seconds(10);   // after these, between one and the next; doubles
    absl::Duration longest = absl::Minutes(1);  // up to this, until the object is left alone
    size_t max_objects = 10'000;  // remembered; when there are more, the idle ones are forgotten
  };

  ObjectFixLimiter() : ObjectFixLimiter(Options()) {}
  explicit ObjectFixLimiter(Options options) : options_(options) {}

  // How long to wait before the object with this UID is fixed. Zero: it may be fixed now.
  absl::Duration WaitFor(const std::string& uid, absl::Time now);
  // The API server has accepted a fix of it. A denied fix does not count: there is no fight.
  void NoteFix(const std::string& uid, absl::Time now);

 private:
  struct Bucket {
    double tokens = 0;
    absl::Time at;
    absl::Duration interval;
  };

  double TokensAt(const Bucket& bucket, absl::Time now) const;
  void ForgetIdle(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  Mutex mutex_;
  absl::flat_hash_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

// The limits of all fixes. A fix that revokes something is slowed less, because a user who grants
// it again and again keeps it while the fix waits. If the API server never stores the fix as
// written (an admission plugin), quick fixes end nothing, and are slowed like the others.
// Thread-safe.
class FixLimiters {
 public:
  static constexpr absl::Duration kRevocationInterval = absl::Seconds(5);

  absl::Duration WaitFor(const std::string& uid, absl::Time now);
  // `revoked`: the fix has ended what it was to revoke.
  void NoteFix(const std::string& uid, bool revoked, absl::Time now);

 private:
  ObjectFixLimiter fixes_;
  ObjectFixLimiter revocations_{{.first = kRevocationInterval, .longest = kRevocationInterval}};
};

}  // namespace mandate
