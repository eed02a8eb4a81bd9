// The delays of a reflector before it tries again.
#pragma once

#include <random>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/reflector_options.h"

namespace mandate {

// The backoffs of one reflector: 403, 404 and 410 have their own, all other errors share one. Not
// thread-safe.
class ReflectorBackoff {
 public:
  // `random` outlives this.
  ReflectorBackoff(const ReflectorOptions& options, std::mt19937_64& random);

  absl::Duration AfterFailure(const absl::Status& why, absl::Time now);
  absl::Duration WhileForbidden() { return forbidden_.Next(random_); }
  absl::Duration WhileAbsent() { return absent_.Next(random_); }
  // The server has allowed the request.
  void Granted();
  // A watch was open for this long. If that is longer than the last delay, the next failure counts
  // as the first one.
  void AfterWatch(absl::Duration open);
  // Access, or the served kinds, may have changed.
  void ResetAccess();

 private:
  const absl::Duration reset_;
  std::mt19937_64& random_;
  Backoff common_;
  // After 410. It is often the first response after an outage; the list that follows must not wait
  // for as long as the last attempt of the outage.
  Backoff expired_;
  Backoff forbidden_;
  Backoff absent_;
  absl::Time last_ = absl::InfinitePast();
  absl::Duration last_delay_;
};

}  // namespace mandate
