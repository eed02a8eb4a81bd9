// The delay before the reconcile of a portion is retried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "controllers/portion_fixture.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using PortionRetryTest = PortionTest;

TEST_F(PortionRetryTest, TellsWhenToTryAgain) {
  const ObjectKey key{"", "foo"};
  struct Row {
    const char* name;
    std::function<void(Portion&)> work;
    absl::Duration after;
  };
  const Row rows[] = {
      {"all is done", [](Portion&) {}, absl::ZeroDuration()},
      {"forbidden",
       [](Portion& portion) {
         portion.log().Add("a", absl::StatusOr<int>(absl::PermissionDeniedError("no")));
       },
       absl::Seconds(10)},
      {"it differs", [](Portion& portion) { portion.log().AddDifference("a", "rules"); },
       absl::Seconds(1)},
      {"it is fought over",
       [](Portion& portion) {
         portion.log().AddDifference("a", "rules");
         portion.NoteWait(absl::Seconds(30));
         portion.NoteWait(absl::Seconds(20));
         portion.NoteWait(absl::Seconds(40));
       },
       absl::Seconds(20)},
  };
  for (const Row& row : rows) {
    WriteRounds rounds;
    WriteRound round = rounds.Take(key, "1");
    Portion portion(clock_, limits_, round);
    row.work(portion);
    const auto result = rounds.ResultOf(key, portion);
    ASSERT_TRUE(result.ok()) << row.name;
    EXPECT_EQ(result->requeue_after, row.after) << row.name;
  }
  // An error other than a 403 is retried with the queue's delays.
  refused_ = {"a"};
  WriteRounds rounds;
  WriteRound round;
  Portion portion(clock_, limits_, round);
  Work(portion, {"a"}, &WriteRound::grants);
  EXPECT_EQ(rounds.ResultOf(key, portion).status(), absl::InternalError("a: no"));
}

// The delay grows with each round.
TEST_F(PortionRetryTest, ARoundOfSeveralThatFailedIsBegunAgainSlowly) {
  refused_ = {"a", "b"};
  WriteRounds rounds;
  const ObjectKey key{"", "foo"};
  const auto expect = [&](int seconds) {
    for (const bool last : {false, true}) {
      WriteRound round = rounds.Take(key, "1");
      Portion portion(clock_, limits_, round);
      Work(portion, {"a", "b", "c"}, &WriteRound::grants);
      EXPECT_EQ(rounds.ResultOf(key, portion)->requeue_after,
                last ? absl::Seconds(seconds) : absl::Milliseconds(1));
    }
  };
  for (const int seconds : {10, 20, 40, 60, 60}) expect(seconds);
  // Another object of that name does not inherit the delay of its predecessor.
  rounds.Forget(key);
  expect(10);
}

TEST_F(PortionRetryTest, AfterASuccessADenialIsTriedAgainSoon) {
  WriteRounds rounds;
  const ObjectKey key{"", "foo"};
  const auto next = [&](const absl::Status& status) {
    refused_ = {status.ok() ? "" : "a"};
    refusals_ = {{"a", status}};
    WriteRound round = rounds.Take(key, "1");
    Portion portion(clock_, limits_, round);
    Work(portion, {"a"}, &WriteRound::grants);
    return rounds.ResultOf(key, portion)->requeue_after;
  };
  const absl::Status denied = absl::PermissionDeniedError("no");
  EXPECT_EQ(next(denied), absl::Seconds(10));
  EXPECT_EQ(next(denied), absl::Seconds(20));
  EXPECT_EQ(next(absl::OkStatus()), absl::ZeroDuration());
  EXPECT_EQ(next(denied), absl::Seconds(10));
}

absl::Status Wait(int code, absl::Duration wait) { return StatusFromResponse(code, "", wait); }

// This does not depend on which write failed first.
TEST_F(PortionRetryTest, TheNextTryComesNotBeforeTheServerAskedForIt) {
  limits_ = {.max_writes = 10, .max_time = absl::Hours(1)};
  took_ = absl::Seconds(1);
  refused_ = {"a", "b", "c"};
  const ObjectKey key{"", "foo"};
  const struct {
    const char* name;
    std::map<std::string, absl::Status> refusals;
    absl::StatusOr<absl::Duration> after;
    absl::Duration retry_after;
  } kRows[] = {
      {"the second",
       {{"b", Wait(429, absl::Seconds(20))}},
       absl::InternalError(""),
       absl::Seconds(19)},
      {"the longer one",
       {{"b", Wait(429, absl::Seconds(20))}, {"c", Wait(429, absl::Seconds(9))}},
       absl::InternalError(""),
       absl::Seconds(19)},
      {"it has elapsed",
       {{"a", Wait(429, absl::Seconds(2))}},
       absl::ResourceExhaustedError(""),
       absl::ZeroDuration()},
      {"as long as all waits",
       {{"b", Wait(503, absl::Hours(1))}},
       absl::InternalError(""),
       kLongestRetry},
      {"all are forbidden",
       {{"a", Wait(403, absl::Seconds(40))}, {"b", Wait(403, {})}, {"c", Wait(403, {})}},
       absl::Seconds(38),
       {}},
      {"sooner than what is forbidden is tried again",
       {{"a", Wait(403, absl::Seconds(4))}, {"b", Wait(403, {})}, {"c", Wait(403, {})}},
       absl::Seconds(10),
       {}},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    refusals_ = row.refusals;
    WriteRounds rounds;
    WriteRound round = rounds.Take(key, "1");
    Portion portion(clock_, limits_, round);
    Work(portion, {"a", "b", "c"}, &WriteRound::grants);
    const absl::StatusOr<Result> result = rounds.ResultOf(key, portion);
    EXPECT_EQ(result.status().code(), row.after.status().code());
    if (result.ok()) {
      EXPECT_EQ(result->requeue_after, *row.after);
    } else {
      EXPECT_EQ(RetryAfter(result.status()).value_or(absl::ZeroDuration()), row.retry_after);
    }
  }
}

TEST_F(PortionRetryTest, NoPortionWaitsForAnotherButTheNextRoundDoes) {
  refused_ = {"a"};
  refusals_ = {{"a", Wait(429, absl::Seconds(50))}};
  WriteRounds rounds;
  const ObjectKey key{"", "foo"};
  const auto portion = [&] {
    WriteRound round = rounds.Take(key, "1");
    Portion portion(clock_, limits_, round);
    Work(portion, {"a", "b", "c"}, &WriteRound::grants);
    EXPECT_EQ(RetryAfter(portion.RequeueError(absl::AbortedError("of the report"))).has_value(),
              !portion.unfinished());
    return rounds.ResultOf(key, portion)->requeue_after;
  };
  EXPECT_EQ(portion(), absl::Milliseconds(1));
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  clock_.AdvanceTo(clock_.TimeNow() + absl::Seconds(5));
  EXPECT_EQ(portion(), absl::Seconds(45));
  EXPECT_THAT(Tried(), ElementsAre("b", "c"));
}

TEST_F(PortionRetryTest, AnotherErrorOfTheReconcileWaitsToo) {
  refused_ = {"a"};
  refusals_ = {{"a", Wait(429, absl::Seconds(50))}};
  WriteRound round;
  Portion portion(clock_, limits_, round);
  EXPECT_EQ(RetryAfter(portion.RequeueError(absl::AbortedError("x"))), std::nullopt);
  Work(portion, {"a"}, &WriteRound::grants);
  EXPECT_TRUE(portion.RequeueError(absl::OkStatus()).ok());
  EXPECT_EQ(RetryAfter(portion.RequeueError(absl::AbortedError("x"))), absl::Seconds(50));
  EXPECT_EQ(RetryAfter(portion.RequeueError(Wait(429, absl::Seconds(5)))), absl::Seconds(50));
  EXPECT_EQ(RetryAfter(portion.RequeueError(Wait(429, absl::Seconds(55)))), absl::Seconds(55));
}

TEST(RequeueWithinTest, TheSoonerCounts) {
  Result result;
  RequeueWithin(absl::ZeroDuration(), result);
  EXPECT_EQ(result.requeue_after, absl::ZeroDuration());
  RequeueWithin(absl::Seconds(5), result);
  EXPECT_EQ(result.requeue_after, absl::Seconds(5));
  RequeueWithin(absl::Seconds(9), result);
  EXPECT_EQ(result.requeue_after, absl::Seconds(5));
  RequeueWithin(absl::Seconds(2), result);
  EXPECT_EQ(result.requeue_after, absl::Seconds(2));
  RequeueWithin(absl::ZeroDuration(), result);
  EXPECT_EQ(result.requeue_after, absl::Seconds(2));
}

}  // namespace
}  // namespace mandate
