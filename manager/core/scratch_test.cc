#include "manager/core/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace mandate {
namespace {

TEST(ScratchTest, IsReusedByItsThreadAndOverwritten) {
  char* first = nullptr;
  {
    Scratch scratch(1000);
    first = scratch.data();
    EXPECT_EQ(scratch.size(), 1000u);
    std::memset(first, 's', 1000);
  }
  Scratch again(Scratch::kReused);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(std::count(first, first + 1000, 's'), 0);
  std::jthread([first] { EXPECT_NE(Scratch(1000).data(), first); });
}

TEST(ScratchTest, OneWithinTheUseOfAnotherIsItsOwn) {
  Scratch outer(10);
  std::memset(outer.data(), 'o', 10);
  {
    Scratch inner(10);
    EXPECT_NE(inner.data(), outer.data());
    std::memset(inner.data(), 'i', 10);
  }
  EXPECT_EQ(std::count(outer.data(), outer.data() + 10, 'o'), 10);
  Scratch(10);
  EXPECT_NE(Scratch(10).data(), outer.data()) << "the outer one is still in use";
}

TEST(ScratchTest, ALargeOneIsItsOwn) {
  char* const reused = Scratch(1).data();
  Scratch large(Scratch::kReused + 1);
  EXPECT_NE(large.data(), reused);
  std::memset(large.data(), 'l', large.size());
  EXPECT_EQ(Scratch(1).data(), reused);
  Scratch(0);
}

}  // namespace
}  // namespace mandate
