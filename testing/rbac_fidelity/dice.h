// Seeded choices that are the same on every machine (the standard distributions are not).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mandate::fidelity {

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  // 0 … n-1; n is at least 1.
  size_t Below(size_t n) { return engine_() % n; }
  bool Chance(int percent) { return Below(100) < static_cast<size_t>(percent); }

  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }

  // Between one and `most` entries of `from`, with repetitions.
  std::vector<std::string> Some(const std::vector<std::string>& from, size_t most) {
    std::vector<std::string> picked;
    for (size_t n = 1 + Below(most); n > 0; --n) picked.push_back(Pick(from));
    return picked;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace mandate::fidelity
