// The last N texts seen, by hash.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace mandate::rbacgen {

// Not thread-safe. `capacity` is at least 1.
class RecentSet {
 public:
  explicit RecentSet(size_t capacity) : ring_(capacity) {}

  // Returns false if `text` is among the last `capacity` inserted texts.
  bool Insert(std::string_view text);

 private:
  std::vector<size_t> ring_;
  absl::flat_hash_set<size_t> hashes_;
  size_t next_ = 0;
  size_t size_ = 0;
};

}  // namespace mandate::rbacgen
