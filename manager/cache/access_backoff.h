// The delay until denied access is requested again.
#pragma once

#include <random>

#include "absl/time/time.h"
#include "manager/core/backoff.h"

namespace mandate {

// A backoff that begins quickly when granted access is denied: an API server that has just started
// denies everything until it has read its RBAC objects. It is slow otherwise, and after the quick
// retries. Not thread-safe.
class AccessBackoff {
 public:
  struct Options {
    // The delays after the first denials of access that was granted before. `denied` follows when
    // `lost` has reached its maximum.
    Backoff::Options lost = {
        .initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(30), .jitter = 0.2};
    Backoff::Options denied = {
        .initial = absl::Seconds(30), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
  };

  explicit AccessBackoff(const Options& options)
      : most_lost_(options.lost.max), lost_(options.lost), denied_(options.denied) {}

  // The server has allowed it.
  void Granted() {
    was_there_ = true;
    lost_.Reset();
    denied_.Reset();
  }
  // Something may have changed.
  void Hint() { denied_.Reset(); }

  absl::Duration Next(std::mt19937_64& random) {
    if (!was_there_) return denied_.Next(random);
    const absl::Duration delay = lost_.Next(random);
    if (delay >= most_lost_) was_there_ = false;
    return delay;
  }

 private:
  const absl::Duration most_lost_;
  bool was_there_ = false;
  Backoff lost_;
  Backoff denied_;
};

}  // namespace mandate
