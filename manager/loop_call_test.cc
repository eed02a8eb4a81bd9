#include "manager/loop_call.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/core/event_loop.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

TEST(CallOnLoopTest, ReturnsWhatTheFunctionReturns) {
  SimulatedLoop loop;
  EXPECT_EQ(CallOnLoop(loop, [] { return 7; }), 7);
  EXPECT_EQ(*CallOnLoop(loop, [] { return std::make_unique<int>(8); }), 8);
  EXPECT_EQ(CallOnLoop(loop, [] { return absl::NotFoundError("no"); }), absl::NotFoundError("no"));
  const absl::StatusOr<std::string> result =
      CallOnLoop(loop, []() -> absl::StatusOr<std::string> { return "text"; });
  EXPECT_EQ(*result, "text");
  bool ran = false;
  CallOnLoop(loop, [&] { ran = true; });
  EXPECT_TRUE(ran);
  static_assert(std::is_void_v<decltype(CallOnLoop(loop, [] {}))>);
}

// A function, and a result, that can neither be copied nor default constructed.
TEST(CallOnLoopTest, MovesOnly) {
  struct Result {
    explicit Result(int n) : number(std::make_unique<int>(n)) {}
    std::unique_ptr<int> number;
  };
  SimulatedLoop loop;
  const Result result =
      CallOnLoop(loop, [owned = std::make_unique<int>(9)]() mutable { return Result(*owned + 1); });
  EXPECT_EQ(*result.number, 10);
}

TEST(CallOnLoopTest, RunsAfterWhatWasPostedBefore) {
  SimulatedLoop loop;
  std::vector<int> order;
  loop.Post([&] { order.push_back(1); });
  CallOnLoop(loop, [&] { order.push_back(2); });
  order.push_back(3);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(CallOnLoopTest, RunsOnTheLoopsThreadWhileTheCallerWaits) {
  auto created = EventLoop::Create();
  ASSERT_TRUE(created.ok()) << created.status();
  EventLoop& loop = **created;
  EXPECT_FALSE(loop.IsCurrent());
  EXPECT_TRUE(CallOnLoop(loop, [&] { return loop.IsCurrent(); }));
  // The calls' shared data needs no lock, because the loop runs one call at a time.
  int count = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      int last = 0;
      for (int n = 0; n < 100; ++n) {
        const int now = CallOnLoop(loop, [&] { return ++count; });
        EXPECT_GT(now, last);
        last = now;
        CallOnLoop(loop, [&] { ++count; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(CallOnLoop(loop, [&] { return count; }), 800);
}

}  // namespace
}  // namespace mandate
