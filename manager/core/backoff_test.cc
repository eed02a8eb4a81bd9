#include "manager/core/backoff.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace mandate {
namespace {

using Delays = std::vector<absl::Duration>;

Delays Take(Backoff& backoff, int count, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Delays delays;
  for (int i = 0; i < count; ++i) delays.push_back(backoff.Next(random));
  return delays;
}

constexpr absl::Duration Ms(int64_t ms) { return absl::Milliseconds(ms); }

TEST(BackoffTest, GrowsToItsMaximum) {
  const struct {
    const char* name;
    Backoff::Options options;
    Delays delays;
  } rows[] = {
      {"doubling",
       {.initial = Ms(100), .factor = 2, .max = Ms(1000), .jitter = 0},
       {Ms(100), Ms(200), Ms(400), Ms(800), Ms(1000), Ms(1000)}},
      {"a fraction",
       {.initial = Ms(100), .factor = 1.5, .max = Ms(1000), .jitter = 0},
       {Ms(100), Ms(150), Ms(225)}},
      {"constant",
       {.initial = Ms(100), .factor = 1, .max = Ms(1000), .jitter = 0},
       {Ms(100), Ms(100), Ms(100)}},
      {"a maximum below the first",
       {.initial = Ms(100), .factor = 2, .max = Ms(50), .jitter = 0},
       {Ms(50), Ms(50)}},
  };
  for (const auto& row : rows) {
    Backoff backoff(row.options);
    EXPECT_EQ(Take(backoff, static_cast<int>(row.delays.size())), row.delays) << row.name;
  }
}

TEST(BackoffTest, StaysAtItsMaximumForEver) {
  Backoff backoff({.initial = absl::Hours(1), .factor = 10, .max = absl::Hours(2), .jitter = 0});
  EXPECT_EQ(Take(backoff, 10'000).back(), absl::Hours(2));
}

TEST(BackoffTest, JitterOnlyLengthens) {
  std::mt19937_64 random(1);
  absl::Duration shortest = absl::InfiniteDuration(), longest;
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff({.initial = Ms(100), .factor = 3, .max = Ms(200), .jitter = 0.5});
    const absl::Duration first = backoff.Next(random);
    EXPECT_GE(first, Ms(100));
    EXPECT_LT(first, Ms(150));
    shortest = std::min(shortest, first);
    longest = std::max(longest, first);
    // The maximum has jitter, too. Otherwise all who wait that long would wake at once.
    const absl::Duration second = backoff.Next(random);
    EXPECT_GE(second, Ms(200));
    EXPECT_LT(second, Ms(300));
  }
  EXPECT_LT(shortest, Ms(105));
  EXPECT_GT(longest, Ms(145));
}

TEST(BackoffTest, ASeedIsASequence) {
  Backoff a({}), b({}), c({});
  const Delays delays = Take(a, 5, 1);
  EXPECT_EQ(Take(b, 5, 1), delays);
  EXPECT_NE(Take(c, 5, 2), delays);
}

TEST(BackoffTest, ResetBeginsAgain) {
  Backoff backoff({.initial = Ms(100), .factor = 2, .max = Ms(1000), .jitter = 0});
  EXPECT_EQ(backoff.failures(), 0);
  Take(backoff, 3);
  EXPECT_EQ(backoff.failures(), 3);
  backoff.Reset();
  EXPECT_EQ(backoff.failures(), 0);
  EXPECT_EQ(Take(backoff, 2), (Delays{Ms(100), Ms(200)}));
  EXPECT_EQ(backoff.failures(), 2);
}

}  // namespace
}  // namespace mandate
