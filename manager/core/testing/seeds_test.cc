#include "manager/core/testing/seeds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace mandate {
namespace {

using Seeds = std::vector<uint64_t>;

// Null: the variable is not set.
Seeds SeedsWith(const char* seed, const char* seeds, const char* run = nullptr) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? unsetenv(name) : setenv(name, value, /*overwrite=*/1);
  };
  set("SEED", seed);
  set("SEEDS", seeds);
  set("TEST_RANDOM_SEED", run);
  Seeds ran;
  const int64_t count = RunSeeds(3, [&](uint64_t s) { ran.push_back(s); });
  EXPECT_EQ(count, static_cast<int64_t>(ran.size()));
  return ran;
}

TEST(SeedsTest, TheEnvironmentSaysWhichAndHowMany) {
  EXPECT_EQ(SeedsWith(nullptr, nullptr), (Seeds{1, 2, 3}));
  EXPECT_EQ(SeedsWith(nullptr, "2"), (Seeds{1, 2}));
  EXPECT_EQ(SeedsWith("7", nullptr), (Seeds{7}));
  EXPECT_EQ(SeedsWith("7", "2"), (Seeds{7, 8}));
}

TEST(SeedsTest, EachOfSeveralRunsHasItsOwn) {
  EXPECT_EQ(SeedsWith(nullptr, nullptr, "1"), (Seeds{1, 2, 3}));
  EXPECT_EQ(SeedsWith(nullptr, nullptr, "3"), (Seeds{7, 8, 9}));
  EXPECT_EQ(SeedsWith(nullptr, "2", "2"), (Seeds{3, 4}));
  EXPECT_EQ(SeedsWith("7", "2", "2"), (Seeds{9, 10}));
}

}  // namespace
}  // namespace mandate
