#include "controllers/fix_limiter.h"

#include <algorithm>

namespace mandate {

double ObjectFixLimiter::TokensAt(const Bucket& bucket, absl::Time now) const {
  const double earned = absl::FDivDuration(now - bucket.at, bucket.interval);
  return std::min<double>(options_.burst, bucket.tokens + earned);
}

void ObjectFixLimiter::ForgetIdle(absl::Time now) {
  absl::erase_if(buckets_,
                 [&](const auto& item) { return TokensAt(item.second, now) >= options_.burst; });
  // Other writers fight over all of these objects. Each forgotten object costs one more burst of
  // fixes.
  if (buckets_.size() >= options_.max_objects) buckets_.clear();
}

absl::Duration ObjectFixLimiter::WaitFor(const std::string& uid, absl::Time now) {
  MutexLock lock(mutex_);
  const auto found = buckets_.find(uid);
  if (found == buckets_.end()) return absl::ZeroDuration();
  const double tokens = TokensAt(found->second, now);
  return tokens < 1 ? (1 - tokens) * found->second.interval : absl::ZeroDuration();
}

void ObjectFixLimiter::NoteFix(const std::string& uid, absl::Time now) {
  MutexLock lock(mutex_);
  const Bucket full{static_cast<double>(options_.burst), now, options_.first};
  auto found = buckets_.find(uid);
  if (found == buckets_.end()) {
    if (buckets_.size() >= options_.max_objects) ForgetIdle(now);
    found = buckets_.emplace(uid, full).first;
  }
  Bucket& bucket = found->second;
  const double tokens = TokensAt(bucket, now);
  if (tokens >= options_.burst) bucket = full;
  bucket.tokens = tokens - 1;
  bucket.at = now;
  const bool exhausted = bucket.tokens < 1 && tokens < 2 && tokens < options_.burst;
  if (exhausted) bucket.interval = std::min(2 * bucket.interval, options_.longest);
}

absl::Duration FixLimiters::WaitFor(const std::string& uid, absl::Time now) {
  return std::max(fixes_.WaitFor(uid, now), revocations_.WaitFor(uid, now));
}

void FixLimiters::NoteFix(const std::string& uid, bool revoked, absl::Time now) {
  (revoked ? revocations_ : fixes_).NoteFix(uid, now);
}

}  // namespace mandate
