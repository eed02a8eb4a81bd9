#include "manager/core/strand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "manager/core/testing/simulated_loop.h"
#include "manager/core/thread_pool.h"

namespace mandate {
namespace {

constexpr absl::Duration kMs = absl::Milliseconds(1);

class StrandTest : public testing::Test {
 protected:
  // A task that takes a while.
  void PostTo(Strand& strand, std::string name, absl::Duration takes = absl::ZeroDuration()) {
    strand.Post([this, name, takes] {
      ran_ += name;
      loop_.simulated_clock().AdvanceTo(loop_.clock().TimeNow() + takes);
    });
  }

  SimulatedLoop loop_;
  std::string ran_;
};

TEST_F(StrandTest, RunsInOrderNeverInsidePost) {
  SimulatedPool pool(loop_, 1);
  Strand strand({pool, loop_.clock()});
  for (const char* name : {"a", "b", "c"}) PostTo(strand, name);
  EXPECT_EQ(ran_, "");
  EXPECT_EQ(strand.waiting(), 3u);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(ran_, "abc");
  EXPECT_EQ(strand.waiting(), 0u);
  PostTo(strand, "d");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(ran_, "abcd");
}

// A task begins only after the previous one has ended, even if that one lets other tasks run.
TEST_F(StrandTest, OneAtATime) {
  SimulatedPool pool(loop_, 1);
  Strand strand({pool, loop_.clock()});
  strand.Post([&] {
    Latch later;
    loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [&] { later.Set(); });
    ran_ += "<";
    strand.Await(later);
    ran_ += ">";
  });
  PostTo(strand, "b");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(ran_, "<>b");
}

TEST_F(StrandTest, StrandsOfAPoolTakeTurns) {
  Strand one({loop_, loop_.clock(), 10 * kMs});
  Strand two({loop_, loop_.clock(), 10 * kMs});
  for (int i = 0; i < 6; ++i) PostTo(one, "1", 5 * kMs);
  for (int i = 0; i < 6; ++i) PostTo(two, "2", 5 * kMs);
  loop_.RunReady();
  EXPECT_EQ(ran_, "112211221122");
}

TEST_F(StrandTest, ATaskMayPost) {
  Strand strand({loop_, loop_.clock()});
  strand.Post([&] {
    PostTo(strand, "b");
    ran_ += "a";
  });
  PostTo(strand, "c");
  loop_.RunReady();
  EXPECT_EQ(ran_, "acb");
}

TEST_F(StrandTest, WhatWaitsIsDestroyedWithIt) {
  auto kept = std::make_shared<int>();
  std::optional<Strand> strand(std::in_place, Strand::Options{loop_, loop_.clock()});
  strand->Post([&, kept] {
    ran_ += "a";
    strand.reset();
    ran_ += "b";
  });
  strand->Post([&, kept] { ran_ += "c"; });
  EXPECT_EQ(kept.use_count(), 3);
  loop_.RunReady();
  EXPECT_EQ(ran_, "ab");
  EXPECT_EQ(kept.use_count(), 1);
}

// This test is for the sanitizers.
TEST(StrandThreadsTest, OrderFromManyThreads) {
  constexpr int kPosters = 4, kEach = 2'000;
  ThreadPool pool(4), posters(kPosters);
  Strand strand({pool, Clock::Real(), absl::Microseconds(50)});
  std::array<int, kPosters> last{};
  int done = 0;
  std::atomic<int> inside = 0;
  Latch all;
  for (int poster = 0; poster < kPosters; ++poster) {
    posters.Post([&, poster] {
      for (int i = 1; i <= kEach; ++i) {
        strand.Post([&, poster, i] {
          EXPECT_EQ(++inside, 1);
          EXPECT_EQ(std::exchange(last[static_cast<size_t>(poster)], i), i - 1);
          --inside;
          if (++done == kPosters * kEach) all.Set();
        });
      }
    });
  }
  all.Wait();
}

}  // namespace
}  // namespace mandate
