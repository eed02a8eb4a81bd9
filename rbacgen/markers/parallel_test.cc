#include "rbacgen/markers/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace mandate::rbacgen {
namespace {

TEST(InParallel, CallsEachOnce) {
  for (const size_t count : {0, 1, 2, 1000}) {
    for (const size_t threads : {0, 1, 2, 8}) {
      std::vector<std::atomic<int>> calls(count);
      InParallel(count, threads, [&](size_t i) { ++calls[i]; });
      for (const auto& n : calls) EXPECT_EQ(n, 1) << count << " on " << threads;
    }
  }
}

TEST(InParallel, UsesTheGivenNumberOfThreads) {
  std::barrier all(3);  // each thread waits here until three have arrived
  InParallel(3, 3, [&](size_t) { all.arrive_and_wait(); });
}

TEST(UsefulThreads, AreAtMostThoseOfTheMachine) {
  EXPECT_LE(UsefulThreads(), 4u);
  EXPECT_LE(UsefulThreads(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace mandate::rbacgen
