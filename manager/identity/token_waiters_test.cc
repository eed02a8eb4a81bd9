#include "manager/identity/token_waiters.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Result = absl::StatusOr<std::shared_ptr<const Token>>;

struct TokenWaitersTest : testing::Test {
  SimulatedLoop loop;
  std::optional<TokenWaiters> waiters{std::in_place, loop, "ns/sa", 2};
  std::optional<Result> result;

  TokenSource::Callback Record() {
    return [this](Result r) {
      ASSERT_FALSE(result.has_value()) << "called twice";
      result = std::move(r);
    };
  }
  CallContext In(absl::Duration d) { return {.deadline = loop.clock().TimeNow() + d, .stop = {}}; }
};

TEST_F(TokenWaitersTest, CompletesLaterAndOnce) {
  waiters->Add(In(absl::Minutes(1)), Record());
  auto token = std::make_shared<const Token>();
  waiters->Complete(token);
  EXPECT_FALSE(result.has_value());
  loop.RunFor(absl::Minutes(2));
  EXPECT_EQ(result->value(), token);
}

TEST_F(TokenWaitersTest, EndsAtTheDeadlineWithTheReason) {
  waiters->Add(In(absl::Seconds(5)), Record());
  waiters->SetReason(absl::UnavailableError("the server is down"));
  loop.RunFor(absl::Milliseconds(4999));
  EXPECT_FALSE(result.has_value());
  loop.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(result->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(result->status().message(),
            "the deadline passed before there was a token of ns/sa: the server is down");
}

TEST_F(TokenWaitersTest, EndsAtOnceWhenTheDeadlineIsPast) {
  waiters->Add(In(absl::ZeroDuration()), Record());
  EXPECT_FALSE(result.has_value());
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TokenWaitersTest, EndsWhenStopped) {
  std::stop_source stop;
  waiters->Add({.stop = stop.get_token()}, Record());
  loop.RunReady();
  EXPECT_FALSE(result.has_value());
  stop.request_stop();
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
  result.reset();
  waiters->Add({.stop = stop.get_token()}, Record());
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
}

TEST_F(TokenWaitersTest, RejectsCallersBeyondItsBound) {
  int others = 0;
  waiters->Add({}, [&](Result) { ++others; });
  waiters->Add({}, [&](Result) { ++others; });
  waiters->Add({}, Record());
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(others, 0);
}

TEST_F(TokenWaitersTest, AnEndedContextIsNotCountedAgainstTheBound) {
  Metrics metrics;
  prometheus::Counter& rejected = metrics.Counter("rejected", "", {});
  waiters.emplace(loop, "ns/sa", 0, WaiterMetrics{.waiting = nullptr, .rejected = &rejected});
  std::stop_source stop;
  stop.request_stop();
  waiters->Add({.stop = stop.get_token()}, Record());
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
  result.reset();
  waiters->Add(In(absl::ZeroDuration()), Record());
  loop.RunReady();
  EXPECT_EQ(result->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(rejected.Value(), 0);
}

TEST_F(TokenWaitersTest, AnswersInTheOrderOfTheCalls) {
  waiters.emplace(loop, "ns/sa", 10);
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) waiters->Add({}, [&order, i](Result) { order.push_back(i); });
  waiters->Complete(std::make_shared<const Token>());
  loop.RunReady();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(TokenWaitersTest, UpdatesItsMetrics) {
  Metrics metrics;
  prometheus::Gauge& waiting = metrics.Gauge("waiting", "", {});
  prometheus::Counter& rejected = metrics.Counter("rejected", "", {});
  waiters.emplace(loop, "ns/sa", 2, WaiterMetrics{.waiting = &waiting, .rejected = &rejected});
  const auto ignore = [](Result) {};
  waiters->Add(In(absl::Seconds(1)), ignore);
  waiters->Add({}, ignore);
  EXPECT_EQ(waiting.Value(), 2);
  EXPECT_EQ(rejected.Value(), 0);
  waiters->Add({}, ignore);
  EXPECT_EQ(waiting.Value(), 2);
  EXPECT_EQ(rejected.Value(), 1);
  loop.RunFor(absl::Seconds(2));
  EXPECT_EQ(waiting.Value(), 1);
  waiters.reset();
  EXPECT_EQ(waiting.Value(), 0);
}

TEST_F(TokenWaitersTest, CancelsAllWhenDestroyed) {
  std::stop_source stop;
  waiters->Add({.deadline = loop.clock().TimeNow() + absl::Hours(1), .stop = stop.get_token()},
               Record());
  waiters.reset();
  stop.request_stop();
  loop.RunFor(absl::Hours(2));
  EXPECT_EQ(result->status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace mandate
