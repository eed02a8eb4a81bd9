// Seeded choices that are the same on every machine (the standard distributions are not).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mandate::conformance::explore {

// Single-threaded.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  // 0 … n-1; n is at least 1.
  size_t Below(size_t n) { return engine_() % n; }
  bool Chance(size_t percent) { return Below(100) < percent; }

  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }
  std::string Pick(std::initializer_list<const char*> from) {
    return *(from.begin() + Below(from.size()));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace mandate::conformance::explore
