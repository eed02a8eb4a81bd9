// The seeds of a simulation.
//
//   const int64_t ran = RunSeeds(300, [&](uint64_t seed) { Simulation(seed).Run(totals); });
//   if (ran >= 100) EXPECT_GT(totals.faults, 10 * ran);
//
// The environment overrides the count: SEEDS=10000 runs that many seeds, SEED=7 only that seed, and
// both together that many from that seed on. With Bazel: --test_env=SEED=7. With Bazel's
// --runs_per_test=20, which numbers its runs in TEST_RANDOM_SEED, each run continues where the one
// before it ends.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace mandate {

// Calls `run` with 1, 2, … `count` until one fails; the failure names the seed. Returns how many
// ran.
inline int64_t RunSeeds(int64_t count, auto run) {
  const auto variable = [](const char* name, int64_t otherwise) -> int64_t {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
  };
  const int64_t chosen = variable("SEED", 0);
  const int64_t seeds = variable("SEEDS", chosen == 0 ? count : 1);
  const int64_t first = (chosen == 0 ? 1 : chosen) + (variable("TEST_RANDOM_SEED", 1) - 1) * seeds;
  const int64_t last = first - 1 + seeds;
  for (int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("replay with --test_env=SEED=" + std::to_string(seed));
    run(static_cast<uint64_t>(seed));
    if (testing::Test::HasFailure()) return seed - first + 1;
  }
  return last - first + 1;
}

}  // namespace mandate
