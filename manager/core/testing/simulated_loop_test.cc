#include "manager/core/testing/simulated_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mandate {
namespace {

using Order = std::vector<int>;

class SimulatedLoopTest : public testing::Test {
 protected:
  Loop::Task Note(int number) {
    return [this, number] { order_.push_back(number); };
  }
  absl::Duration Elapsed() const { return loop_.clock().TimeNow() - start_; }
  absl::Time In(absl::Duration duration) const { return loop_.clock().TimeNow() + duration; }

  Order order_;
  SimulatedLoop loop_;
  const absl::Time start_ = loop_.clock().TimeNow();
};

TEST(SimulatedClockTest, MovesForwardOnly) {
  SimulatedClock clock(absl::FromUnixSeconds(100));
  EXPECT_EQ(clock.TimeNow(), absl::FromUnixSeconds(100));
  clock.AdvanceTo(absl::FromUnixSeconds(110));
  clock.AdvanceTo(absl::FromUnixSeconds(105));
  EXPECT_EQ(clock.TimeNow(), absl::FromUnixSeconds(110));
  EXPECT_EQ(clock.WallTimeNow(), clock.TimeNow());
  clock.SetWallSkew(-absl::Hours(1));
  EXPECT_EQ(clock.TimeNow(), absl::FromUnixSeconds(110));
  EXPECT_EQ(clock.WallTimeNow(), absl::FromUnixSeconds(110) - absl::Hours(1));
}

// Only tasks of the loop may not wait, also if they are nested.
TEST_F(SimulatedLoopTest, KnowsWhoCanAwait) {
  SimulatedPool pool(loop_, 1);
  Latch latch;
  std::vector<bool> may = {loop_.CanAwait()};
  loop_.Post([&] { may.push_back(loop_.CanAwait()); });
  loop_.PostAt(In(absl::Seconds(1)), [&] {
    may.push_back(loop_.CanAwait());
    latch.Set();
  });
  pool.Post([&] {
    may.push_back(loop_.CanAwait());
    loop_.Await(latch);
    may.push_back(loop_.CanAwait());
  });
  loop_.RunFor(absl::Seconds(2));
  may.push_back(loop_.CanAwait());
  EXPECT_EQ(may, (std::vector<bool>{true, false, true, false, true, true}));
}

TEST_F(SimulatedLoopTest, TasksRunInOrderAndNeverInsidePost) {
  loop_.Post([this] {
    loop_.Post(Note(3));
    order_.push_back(1);
  });
  loop_.Post(Note(2));
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(loop_.ready_tasks(), 2u);
  loop_.RunReady();
  EXPECT_EQ(order_, (Order{1, 2, 3}));
  EXPECT_EQ(loop_.ready_tasks(), 0u);
  EXPECT_EQ(Elapsed(), absl::ZeroDuration());
}

TEST_F(SimulatedLoopTest, TimersRunInOrderOfTimeThenOfMaking) {
  const auto c = loop_.RunAt(In(absl::Seconds(2)), Note(3));
  const auto a = loop_.RunAt(In(absl::Seconds(1)), Note(1));
  const auto b = loop_.RunAt(In(absl::Seconds(1)), Note(2));
  EXPECT_EQ(loop_.NextTimer(), In(absl::Seconds(1)));
  loop_.RunReady();
  EXPECT_TRUE(order_.empty());
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(order_, (Order{1, 2, 3}));
  EXPECT_EQ(Elapsed(), absl::Seconds(5));
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(SimulatedLoopTest, ATimerRunsAtItsTimeNotBefore) {
  absl::Duration at;
  const auto timer = loop_.RunAt(In(absl::Seconds(3)), [&] { at = Elapsed(); });
  loop_.RunFor(absl::Seconds(3) - absl::Nanoseconds(1));
  EXPECT_EQ(at, absl::ZeroDuration());
  loop_.RunFor(absl::Nanoseconds(1));
  EXPECT_EQ(at, absl::Seconds(3));
}

TEST_F(SimulatedLoopTest, ADueTimerStandsInLine) {
  loop_.Post(Note(1));
  loop_.Post(Note(2));
  const auto past = loop_.RunAt(In(-absl::Hours(1)), Note(3));
  const auto now = loop_.RunAt(loop_.clock().TimeNow(), Note(4));
  EXPECT_TRUE(order_.empty());
  loop_.RunReady();
  EXPECT_EQ(order_, (Order{1, 2, 3, 4}));
}

TEST_F(SimulatedLoopTest, RunForRunsWhatBecomesDueMeanwhile) {
  std::vector<std::unique_ptr<Loop::Timer>> timers;
  const std::function<void()> tick = [&] {
    order_.push_back(static_cast<int>(Elapsed() / absl::Seconds(1)));
    timers.push_back(loop_.RunAt(In(absl::Seconds(1)), tick));
  };
  tick();
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(order_, (Order{0, 1, 2, 3}));
}

TEST_F(SimulatedLoopTest, ADestroyedTimerNeverRuns) {
  auto first = loop_.RunAt(In(absl::Seconds(1)), Note(1));
  auto second = loop_.RunAt(In(absl::Seconds(1)), Note(2));
  first.reset();
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(order_, (Order{2}));
  second.reset();  // it has run, so there is nothing to cancel
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(order_, (Order{2}));
}

TEST_F(SimulatedLoopTest, ADueTimerCanStillBeTakenBack) {
  std::unique_ptr<Loop::Timer> second;
  const auto alive = std::make_shared<int>();
  const auto first = loop_.RunAt(In(absl::Seconds(1)), [&] {
    order_.push_back(1);
    second.reset();
    EXPECT_EQ(alive.use_count(), 1) << "the task lives on";
  });
  second = loop_.RunAt(In(absl::Seconds(1)), [this, alive] { order_.push_back(2); });
  const auto third = loop_.RunAt(In(absl::Seconds(1)), Note(3));
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(order_, (Order{1, 3}));
}

TEST_F(SimulatedLoopTest, ATaskMayDestroyItsOwnTimer) {
  std::unique_ptr<Loop::Timer> timer;
  timer = loop_.RunAt(In(absl::Seconds(1)), [&] {
    timer.reset();
    order_.push_back(1);
  });
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(order_, (Order{1}));
}

TEST_F(SimulatedLoopTest, ATimersTaskMayOwnOtherTimers) {
  auto inner =
      std::make_shared<std::unique_ptr<Loop::Timer>>(loop_.RunAt(In(absl::Seconds(1)), Note(1)));
  auto outer = loop_.RunAt(In(absl::Seconds(1)), [inner = std::move(inner)] {});
  outer.reset();
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST(SimulatedLoopLifetimeTest, ATimerMayOutliveItsLoop) {
  std::unique_ptr<Loop::Timer> timer;
  const auto alive = std::make_shared<int>();
  {
    SimulatedLoop loop;
    timer = loop.RunAt(loop.clock().TimeNow() + absl::Seconds(1), [alive] {});
    loop.Post([alive] { FAIL() << "a task of a loop that has gone"; });
  }
  EXPECT_EQ(alive.use_count(), 1);
  timer.reset();
}

TEST_F(SimulatedLoopTest, PostAtCannotBeTakenBack) {
  loop_.PostAt(In(absl::Seconds(1)), Note(1));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(order_, (Order{1}));
}

TEST_F(SimulatedLoopTest, RunUntil) {
  loop_.PostAt(In(absl::Seconds(10)), Note(1));
  loop_.PostAt(In(absl::Seconds(20)), Note(2));
  EXPECT_TRUE(loop_.RunUntil([&] { return order_.size() == 1; }));
  EXPECT_EQ(Elapsed(), absl::Seconds(10));
  EXPECT_FALSE(loop_.RunUntil([&] { return order_.size() == 2; }, absl::Seconds(9)));
  EXPECT_EQ(order_, (Order{1}));
  EXPECT_TRUE(loop_.RunUntil([&] { return order_.size() == 2; }, absl::Seconds(10)));
  EXPECT_FALSE(loop_.RunUntil([] { return false; })) << "nothing is left";
}

TEST_F(SimulatedLoopTest, AwaitLetsOthersRunAndTimePass) {
  Latch outer, inner;
  loop_.Post([&] {
    order_.push_back(1);
    loop_.Await(inner);  // nested
    order_.push_back(4);
    outer.Set();
  });
  loop_.Post(Note(2));
  loop_.PostAt(In(absl::Seconds(7)), [&] {
    order_.push_back(3);
    inner.Set();
  });
  loop_.Await(outer);
  EXPECT_EQ(order_, (Order{1, 2, 3, 4}));
  EXPECT_EQ(Elapsed(), absl::Seconds(7));
  loop_.Post(Note(5));
  loop_.Await(outer);  // it is set already, so nothing runs
  EXPECT_EQ(order_.size(), 4u);
}

TEST(SimulatedLoopDeathTest, ADeadlockIsSaid) {
  EXPECT_DEATH(
      {
        SimulatedLoop loop;
        loop.Post([] {});
        loop.Await(Latch());
      },
      "deadlock");
}

// The order in which ten tasks run.
Order Schedule(uint64_t seed) {
  SimulatedLoop loop;
  SimulatedPool pool(loop, seed);
  Order order;
  for (int i = 0; i < 10; ++i) {
    pool.Post([&order, i] { order.push_back(i); });
  }
  EXPECT_TRUE(order.empty());
  loop.RunFor(absl::Milliseconds(1));
  return order;
}

TEST(SimulatedPoolTest, ASeedIsASchedule) {
  const Order all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int differ = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Order order = Schedule(seed);
    EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), all.begin(), all.end()));
    EXPECT_EQ(Schedule(seed), order);
    differ += order != Schedule(seed + 1);
  }
  EXPECT_GT(differ, 15);
}

TEST(SimulatedPoolTest, ATaskThatAwaitsLetsOthersRun) {
  SimulatedLoop loop;
  SimulatedPool pool(loop, 1);
  Latch set_by_second, done;
  pool.Post([&] {
    pool.Await(set_by_second);
    done.Set();
  });
  pool.Post([&] { set_by_second.Set(); });
  pool.Await(done);
  EXPECT_LE(loop.clock().TimeNow(), SimulatedClock().TimeNow() + absl::Milliseconds(1));
}

}  // namespace
}  // namespace mandate
