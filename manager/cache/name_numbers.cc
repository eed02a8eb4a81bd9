#include "manager/cache/name_numbers.h"

#include <utility>

namespace mandate {

uint32_t NameNumbers::Use(const std::string& name) {
  const auto [at, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) {
    if (free_.empty()) {
      names_.emplace_back();
    } else {
      at->second = free_.back();
      free_.pop_back();
    }
    names_[at->second].name = name;
  }
  ++names_[at->second].uses;
  return at->second;
}

void NameNumbers::Release(uint32_t number) {
  if (--names_[number].uses > 0) return;
  numbers_.erase(std::exchange(names_[number].name, ""));
  free_.push_back(number);
}

}  // namespace mandate
