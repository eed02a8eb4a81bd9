// Exponential delays with jitter.
#pragma once

#include <algorithm>
#include <random>

#include "absl/time/time.h"

namespace mandate {

// The state of one thing that is tried again and again. Not thread-safe.
class Backoff {
 public:
  struct Options {
    absl::Duration initial = absl::Milliseconds(800);
    double factor = 2;
    absl::Duration max = absl::Seconds(30);  // before the jitter
    // A delay d becomes one in [d, d * (1 + jitter)).
    double jitter = 1;
  };

  explicit Backoff(Options options) : options_(options) { Reset(); }

  // The delay before the next try; longer each time.
  absl::Duration Next(std::mt19937_64& random) {
    const absl::Duration delay = next_;
    next_ = std::min(next_ * options_.factor, options_.max);
    ++failures_;
    return delay * std::uniform_real_distribution<double>(1, 1 + options_.jitter)(random);
  }

  void Reset() {
    next_ = std::min(options_.initial, options_.max);
    failures_ = 0;
  }

  // Next() calls since the last Reset().
  int failures() const { return failures_; }

 private:
  Options options_;
  absl::Duration next_;
  int failures_ = 0;
};

}  // namespace mandate
