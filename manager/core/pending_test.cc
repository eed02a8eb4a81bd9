#include "manager/core/pending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "manager/core/event_loop.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PendingTest : public testing::Test {
 protected:
  // At the end of its context its result is the code.
  void Arm(const CallContext& context) {
    pending_.Arm(loop_, context, [this](absl::StatusCode why) { End(static_cast<int>(why)); });
  }
  void End(int result) { std::move(pending_.Take())(result); }
  absl::Time In(int seconds) { return loop_.clock().TimeNow() + absl::Seconds(seconds); }

  SimulatedLoop loop_;
  std::vector<int> results_;
  Pending<int> pending_{[this](int result) { results_.push_back(result); }};
};

TEST_F(PendingTest, AnAnswerEndsItOnce) {
  std::stop_source stop;
  Arm({.deadline = In(1), .stop = stop.get_token()});
  End(7);
  EXPECT_TRUE(pending_.taken());
  stop.request_stop();
  loop_.RunFor(absl::Seconds(2));
  EXPECT_THAT(results_, ElementsAre(7));
}

TEST_F(PendingTest, TheDeadlineEndsItOnTime) {
  Arm({.deadline = In(2), .stop = {}});
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(results_, IsEmpty());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(results_, ElementsAre(static_cast<int>(absl::StatusCode::kDeadlineExceeded)));
}

TEST_F(PendingTest, AStopEndsItLaterOnTheLoop) {
  std::stop_source stop;
  Arm({.deadline = In(1), .stop = stop.get_token()});
  stop.request_stop();
  EXPECT_THAT(results_, IsEmpty());
  loop_.RunReady();
  EXPECT_THAT(results_, ElementsAre(static_cast<int>(absl::StatusCode::kCancelled)));
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(results_.size(), 1u);
}

TEST_F(PendingTest, AContextThatHasEndedEndsItLater) {
  std::stop_source stop;
  stop.request_stop();
  Arm({.deadline = absl::InfiniteFuture(), .stop = stop.get_token()});
  EXPECT_THAT(results_, IsEmpty());
  loop_.RunReady();
  EXPECT_EQ(results_.size(), 1u);
}

TEST_F(PendingTest, AStopThatWasPostedBeforeTheAnswerDoesNothing) {
  std::stop_source stop;
  Arm({.deadline = absl::InfiniteFuture(), .stop = stop.get_token()});
  stop.request_stop();
  End(1);
  loop_.RunReady();
  EXPECT_THAT(results_, ElementsAre(1));
}

TEST(ContextEndTest, AStopFromAnotherThreadRunsOnTheLoop) {
  auto loop = EventLoop::Create();
  ASSERT_TRUE(loop.ok()) << loop.status();
  std::stop_source stop;
  Latch ended;
  bool on_loop = false;
  std::optional<ContextEnd> end;
  Latch armed;
  (*loop)->Post([&] {
    end.emplace(**loop, CallContext{.deadline = absl::InfiniteFuture(), .stop = stop.get_token()},
                [&](absl::StatusCode) {
                  on_loop = (*loop)->IsCurrent();
                  end.reset();
                  ended.Set();
                });
    armed.Set();
  });
  armed.Wait();
  std::thread([&] { stop.request_stop(); }).join();
  ended.Wait();
  EXPECT_TRUE(on_loop);
}

}  // namespace
}  // namespace mandate
