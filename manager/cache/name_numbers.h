// Numbers for names that many sets have, such as those of namespaces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mandate {

// A set of numbers takes a tenth of the memory of a set of names. A name has its number while it is
// in use; then another name gets it. Not thread-safe.
class NameNumbers {
 public:
  // Begins one use of the name.
  uint32_t Use(const std::string& name);
  // Ends one use.
  void Release(uint32_t number);
  // A number in use.
  const std::string& NameOf(uint32_t number) const { return names_[number].name; }

  size_t size() const { return numbers_.size(); }

 private:
  struct Name {
    std::string name;
    size_t uses = 0;
  };

  std::vector<Name> names_;  // by their numbers
  std::vector<uint32_t> free_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
};

}  // namespace mandate
