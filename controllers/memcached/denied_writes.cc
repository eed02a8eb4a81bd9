#include "controllers/memcached/denied_writes.h"

#include <algorithm>

namespace mandate::memcached {

absl::Duration DeniedWrites::Add(const ObjectKey& key) {
  MutexLock lock(mutex_);
  auto& names = names_[key.ns];
  names.insert(key.name);
  return std::max(kShortest, static_cast<int64_t>(names.size()) * kInterval);
}

void DeniedWrites::Remove(const ObjectKey& key) {
  MutexLock lock(mutex_);
  const auto names = names_.find(key.ns);
  if (names == names_.end()) return;
  names->second.erase(key.name);
  if (names->second.empty()) names_.erase(names);
}

}  // namespace mandate::memcached
