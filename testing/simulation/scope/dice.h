// The random numbers of one run: the same seed gives the same run.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "absl/time/time.h"

namespace mandate::simulation {

// Single-threaded.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // 0 … below - 1.
  int Pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  // True in one of `in` cases.
  bool OneIn(int in) { return Pick(in) == 0; }
  // At most `most`, in milliseconds.
  absl::Duration UpTo(absl::Duration most) {
    return absl::Milliseconds(Pick(static_cast<int>(absl::ToInt64Milliseconds(most)) + 1));
  }
  // `from` is not empty.
  template <class T>
  const T& OneOf(const std::vector<T>& from) {
    return from[static_cast<size_t>(Pick(static_cast<int>(from.size())))];
  }
  uint64_t Seed() { return random_(); }

 private:
  std::mt19937_64 random_;
};

}  // namespace mandate::simulation
