#include "rbacgen/audit/recent_set.h"

#include <functional>

namespace mandate::rbacgen {

bool RecentSet::Insert(std::string_view text) {
  const size_t hash = std::hash<std::string_view>()(text);
  if (!hashes_.insert(hash).second) return false;
  if (size_ == ring_.size()) {
    hashes_.erase(ring_[next_]);
  } else {
    ++size_;
  }
  ring_[next_] = hash;
  next_ = (next_ + 1) % ring_.size();
  return true;
}

}  // namespace mandate::rbacgen
