#include "manager/core/fair_share.h"

#include <vector>

#include "gtest/gtest.h"

namespace mandate {
namespace {

// The parts of `budget` that users get if each takes as much as it may, one after the other.
std::vector<size_t> Greedy(size_t budget, size_t times, size_t users, size_t kept = 0) {
  std::vector<size_t> got(users, 0);
  size_t free = budget;
  for (size_t& used : got) {
    while (MayTakeShare(used, free, times, kept)) {
      ++used;
      --free;
    }
  }
  return got;
}

TEST(FairShareTest, EachLeavesSomethingForTheNext) {
  EXPECT_EQ(Greedy(100, 4, 4), (std::vector<size_t>{80, 16, 4, 0}));
  EXPECT_EQ(Greedy(192, 4, 4), (std::vector<size_t>{154, 31, 6, 1}));
  EXPECT_EQ(Greedy(1, 4, 2), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(Greedy(0, 4, 1), (std::vector<size_t>{0}));
}

TEST(FairShareTest, TheLastPlacesAreForThoseWithoutAny) {
  EXPECT_EQ(Greedy(64, 4, 4), (std::vector<size_t>{52, 10, 2, 0}));
  EXPECT_EQ(Greedy(64, 4, 8, 8), (std::vector<size_t>{45, 9, 2, 2, 2, 2, 2, 0}));
  EXPECT_EQ(Greedy(3, 4, 3, 8), (std::vector<size_t>{2, 1, 0}));
  EXPECT_TRUE(MayTakeShare(1, 1, 4, 8));
  EXPECT_FALSE(MayTakeShare(2, 8, 4, 8));
  EXPECT_TRUE(MayTakeShare(2, 9, 4, 8));
  EXPECT_FALSE(MayTakeShare(4, 9, 4, 8));
}

TEST(FairShareTest, WhatIsGivenBackIsTheNewcomers) {
  // 80 + 16 + 4 are taken, and one place is returned.
  EXPECT_FALSE(MayTakeShare(79, 1, 4));
  EXPECT_FALSE(MayTakeShare(16, 1, 4));
  EXPECT_TRUE(MayTakeShare(0, 1, 4));
}

TEST(FairShareTest, ShareLeftIsWhatAUserCanTake) {
  for (size_t times = 1; times < 6; ++times) {
    for (size_t free = 0; free < 40; ++free) {
      for (size_t used = 0; used < 60; ++used) {
        size_t taken = 0;
        while (MayTakeShare(used + taken, free - taken, times)) ++taken;
        EXPECT_EQ(ShareLeft(used, free, times), taken) << used << " " << free << " " << times;
      }
    }
  }
}

}  // namespace
}  // namespace mandate
