#include "controllers/retry_delays.h"

#include <algorithm>

namespace mandate {

absl::Duration RetryDelays::Next(const ObjectKey& key) {
  MutexLock lock(mutex_);
  const auto [last, is_first] = last_.try_emplace(key, options_.first);
  if (!is_first) last->second = std::min(2 * last->second, options_.longest);
  return last->second;
}

void RetryDelays::Reset(const ObjectKey& key) {
  MutexLock lock(mutex_);
  last_.erase(key);
}

}  // namespace mandate
