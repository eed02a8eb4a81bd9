// A rate with a burst: how often something may happen.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace mandate {

// Full at first. Not thread-safe.
class TokenBucket {
 public:
  struct Options {
    double per_second;
    int burst;  // how often at once, after a quiet time
  };

  TokenBucket(Options options, absl::Time now)
      : options_(options), tokens_(options.burst), counted_at_(now) {}

  // How long until a token may be taken; zero: now.
  absl::Duration Wait(absl::Time now) const {
    const double tokens = TokensAt(now);
    // A little less than one is one: a timer may be early by a rounding.
    if (tokens > 0.999) return absl::ZeroDuration();
    return absl::Seconds((1 - tokens) / options_.per_second);
  }
  void Take(absl::Time now) {
    tokens_ = TokensAt(now) - 1;
    counted_at_ = now;
  }

 private:
  double TokensAt(absl::Time now) const {
    const double earned = options_.per_second * absl::ToDoubleSeconds(now - counted_at_);
    return std::min<double>(options_.burst, tokens_ + earned);
  }

  const Options options_;
  double tokens_;
  absl::Time counted_at_;  // when `tokens_` was right
};

}  // namespace mandate
