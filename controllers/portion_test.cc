#include "controllers/portion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PortionTest : public testing::Test {
 protected:
  using List = std::vector<std::string>;

  // Works on `list` in `portion`; the server refuses those in `refused_`.
  bool Work(Portion& portion, const List& list, FailedWrites WriteRound::*kind) {
    return portion.Each(
        list,
        [](const std::string& name) {
          return ObjectKey{"", name};
        },
        portion.round().*kind,
        [&](const std::string& name) {
          tried_.push_back(name);
          portion.NoteRequest();
          clock_.AdvanceTo(clock_.TimeNow() + took_);
          const bool taken = !refused_.contains(name);
          if (taken) portion.NoteSuccess();
          const auto refusal = refusals_.find(name);
          const absl::Status status = taken                        ? absl::OkStatus()
                                      : refusal != refusals_.end() ? refusal->second
                                                                   : absl::InternalError("no");
          if (kind == &WriteRound::removals) {
            portion.log().AddRemoval(name, name, status);
          } else {
            portion.log().Add(name, absl::StatusOr<int>(taken ? absl::StatusOr<int>(1) : status));
          }
        },
        [] {});
  }
  List Tried() { return std::exchange(tried_, {}); }
  // What another portion of the round tries.
  List Next(const List& list, FailedWrites WriteRound::*kind, WriteRound& round) {
    Portion portion(clock_, limits_, round);
    Work(portion, list, kind);
    return Tried();
  }

  SimulatedClock clock_;
  PortionLimits limits_{.max_writes = 2};
  absl::Duration took_ = absl::ZeroDuration();
  std::set<std::string> refused_;
  std::map<std::string, absl::Status> refusals_;  // other than the usual one
  List tried_;
};

TEST_F(PortionTest, EndsAfterItsWrites) {
  WriteRound round;
  Portion portion(clock_, limits_, round);
  EXPECT_FALSE(Work(portion, {"a", "b", "c"}, &WriteRound::grants));
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  EXPECT_TRUE(portion.unfinished());
  EXPECT_FALSE(Work(portion, {"d"}, &WriteRound::removals)) << "nor is another list begun";
  EXPECT_THAT(Tried(), IsEmpty());
}

TEST_F(PortionTest, AListThatIsWholeIsFinished) {
  WriteRound round;
  Portion portion(clock_, limits_, round);
  EXPECT_TRUE(Work(portion, {"a", "b"}, &WriteRound::grants));
  EXPECT_TRUE(Work(portion, {}, &WriteRound::grants));
  EXPECT_FALSE(portion.unfinished());
}

TEST_F(PortionTest, EachListHasItsTriesAndItsTime) {
  refused_ = {"a", "b", "c", "d"};
  WriteRound round;
  Portion tries(clock_, limits_, round);
  EXPECT_FALSE(Work(tries, {"a", "b", "c"}, &WriteRound::grants));
  EXPECT_TRUE(Work(tries, {"d"}, &WriteRound::removals));
  EXPECT_THAT(Tried(), ElementsAre("a", "b", "d"));

  took_ = limits_.max_time;
  WriteRound slow_round;
  Portion slow(clock_, limits_, slow_round);
  EXPECT_FALSE(Work(slow, {"a", "b"}, &WriteRound::grants));
  EXPECT_TRUE(Work(slow, {"d"}, &WriteRound::removals));
  EXPECT_THAT(Tried(), ElementsAre("a", "d"));
}

// The object is tried again with patience, and other objects are not held up meanwhile.
TEST_F(PortionTest, WithoutPatienceAListEndsWithAWriteThatIsCutShort) {
  limits_.max_writes = 10;
  refused_ = {"a"};
  refusals_ = {{"a", absl::DeadlineExceededError("no answer")}};
  WriteRound round;
  Portion portion(clock_, limits_, round, /*patient=*/false);
  EXPECT_EQ(portion.ForRequest({}).deadline, clock_.TimeNow() + limits_.max_time);
  EXPECT_FALSE(Work(portion, {"a"}, &WriteRound::grants)) << "it is not over with it";
  EXPECT_TRUE(portion.slow());
  EXPECT_TRUE(portion.unfinished());
  EXPECT_THAT(portion.failures(), IsEmpty()) << "it is under way";
  EXPECT_FALSE(Work(portion, {"b"}, &WriteRound::grants)) << "it may take as long";
  EXPECT_TRUE(Work(portion, {"d"}, &WriteRound::removals)) << "revocations do not wait for it";
  EXPECT_THAT(Tried(), ElementsAre("a", "d"));

  Portion patient(clock_, limits_, round, /*patient=*/true);
  EXPECT_EQ(patient.ForRequest({}).deadline, absl::InfiniteFuture());
  EXPECT_TRUE(Work(patient, {"a"}, &WriteRound::grants));
  EXPECT_THAT(Tried(), ElementsAre("a")) << "it did not count as refused";
  EXPECT_FALSE(patient.unfinished());
  EXPECT_THAT(patient.failures(), ElementsAre("a: no answer"));
  EXPECT_FALSE(patient.slow()) << "it was quick to fail";
  took_ = limits_.max_time;
  Work(patient, {"b"}, &WriteRound::grants);
  EXPECT_TRUE(patient.slow());
}

TEST_F(PortionTest, AReportIsCutShortAndTriedAgainWithPatience) {
  const auto report = [&](absl::Duration takes) {
    return [this, takes](const CallContext& context) {
      const absl::Time end = clock_.TimeNow() + takes;
      clock_.AdvanceTo(std::min(end, context.deadline));
      return end > context.deadline ? absl::DeadlineExceededError("late") : absl::OkStatus();
    };
  };
  const struct {
    bool patient;
    absl::Duration takes;
    bool unfinished, slow;
  } rows[] = {{false, absl::Milliseconds(900), false, false},
              {false, absl::Seconds(1), false, true},
              {false, absl::Seconds(3), true, true},
              {true, absl::Seconds(3), false, true}};
  for (const auto& row : rows) {
    WriteRound round;
    Portion portion(clock_, limits_, round, row.patient);
    EXPECT_EQ(portion.Report({}, report(row.takes)), absl::OkStatus());
    EXPECT_EQ(portion.unfinished(), row.unfinished) << row.takes;
    EXPECT_EQ(portion.slow(), row.slow) << row.takes;
    EXPECT_EQ(portion.reported_slowly(), row.slow) << row.takes;
  }
  WriteRound round;
  Portion portion(clock_, limits_, round, /*patient=*/false);
  EXPECT_EQ(portion.Report({}, [](auto&) { return absl::InternalError("no"); }),
            absl::InternalError("no"));
  EXPECT_FALSE(portion.unfinished());
}

TEST_F(PortionTest, LeavesWhatWasEditedMeanwhile) {
  limits_.max_writes = 10;
  WriteRound round;
  Portion portion(clock_, limits_, round);
  portion.LeaveWhen([this] { return tried_.size() == 2; });
  EXPECT_FALSE(Work(portion, {"a", "b", "c"}, &WriteRound::grants));
  EXPECT_FALSE(Work(portion, {"d"}, &WriteRound::removals)) << "nor is another list begun";
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  EXPECT_TRUE(portion.unfinished());
}

TEST_F(PortionTest, AWriteThatTakesLongIsSlowAndManyQuickOnesAreNot) {
  limits_.max_writes = 10;
  for (const int parts : {3, 2}) {
    took_ = limits_.max_time / parts;
    WriteRound round;
    Portion portion(clock_, limits_, round, /*patient=*/false);
    EXPECT_FALSE(Work(portion, {"a", "b", "c", "d", "e"}, &WriteRound::grants));
    EXPECT_EQ(portion.slow(), parts == 2);
  }
}

// Else the first refused writes would be all that is ever tried.
TEST_F(PortionTest, ARefusedGrantIsTriedAgainInTheNextRound) {
  refused_ = {"a", "b"};
  WriteRound round;
  EXPECT_THAT(Next({"a", "b", "c"}, &WriteRound::grants, round), ElementsAre("a", "b"));
  EXPECT_THAT(Next({"a", "b", "c"}, &WriteRound::grants, round), ElementsAre("c"));
  EXPECT_THAT(Next({"a", "b"}, &WriteRound::grants, round), IsEmpty());
}

TEST_F(PortionTest, ARefusedRevocationIsTriedAgainOnceAllWereTried) {
  for (const auto kind : {&WriteRound::removals, &WriteRound::revoking_fixes}) {
    refused_ = {"a", "b"};
    WriteRound round;
    EXPECT_THAT(Next({"a", "b", "c"}, kind, round), ElementsAre("a", "b"));
    EXPECT_THAT(Next({"a", "b", "c"}, kind, round), ElementsAre("c"));
    round.revocations_tried = true;
    EXPECT_THAT(Next({"a", "b"}, kind, round), ElementsAre("a", "b"));
    EXPECT_FALSE(round.revocations_tried);
  }
}

TEST_F(PortionTest, TheLastOfSeveralSumsUpWhatFailedInAll) {
  refused_ = {"a", "b", "x"};
  WriteRound round;
  {
    Portion first(clock_, limits_, round);
    Work(first, {"a", "b", "c"}, &WriteRound::grants);
    EXPECT_THAT(first.failures(), ElementsAre("a: no", "b: no")) << "its own";
  }
  Portion last(clock_, limits_, round);
  Work(last, {"a", "b", "c"}, &WriteRound::grants);
  EXPECT_THAT(last.removal_failures(), IsEmpty());
  Work(last, {"x"}, &WriteRound::removals);
  EXPECT_THAT(last.failures(), ElementsAre("2 objects could not be written, the first: a: no"));
  EXPECT_THAT(last.removal_failures(), ElementsAre("deleting x: no"));
}

TEST_F(PortionTest, ARoundGoesOnUntilWhatItCarriesOutIsAnother) {
  refused_ = {"a", "b"};
  WriteRounds rounds;
  const ObjectKey key{"", "foo"};
  const auto portion_of = [&](const std::string& of) {
    WriteRound round = rounds.Take(key, of);
    Portion portion(clock_, limits_, round);
    Work(portion, {"a", "b", "c", "d", "e"}, &WriteRound::grants);
    return rounds.ResultOf(key, portion);
  };
  EXPECT_EQ(portion_of("1")->requeue_after, absl::Milliseconds(1));
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  EXPECT_EQ(portion_of("2")->requeue_after, absl::Milliseconds(1));
  EXPECT_THAT(Tried(), ElementsAre("a", "b")) << "a new one";
  EXPECT_EQ(portion_of("2")->requeue_after, absl::Milliseconds(1));
  EXPECT_THAT(Tried(), ElementsAre("c", "d"));
  rounds.Forget(key);
  EXPECT_TRUE(portion_of("2").ok());
  EXPECT_THAT(Tried(), ElementsAre("a", "b")) << "a new one";
}

TEST_F(PortionTest, TellsWhenToTryAgain) {
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
  // What is no 403 has the queue's delays.
  refused_ = {"a"};
  WriteRounds rounds;
  WriteRound round;
  Portion portion(clock_, limits_, round);
  Work(portion, {"a"}, &WriteRound::grants);
  EXPECT_EQ(rounds.ResultOf(key, portion).status(), absl::InternalError("a: no"));
}

// Round after round, more and more slowly.
TEST_F(PortionTest, ARoundOfSeveralThatFailedIsBegunAgainSlowly) {
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
  // Another object of that name does not wait for what its predecessor was denied.
  rounds.Forget(key);
  expect(10);
}

absl::Status Wait(int code, absl::Duration wait) { return StatusFromResponse(code, "", wait); }

// Whatever failed first.
TEST_F(PortionTest, TheNextTryComesNotBeforeTheServerAskedForIt) {
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

TEST_F(PortionTest, NoPortionWaitsForAnotherButTheNextRoundDoes) {
  refused_ = {"a"};
  refusals_ = {{"a", Wait(429, absl::Seconds(50))}};
  WriteRounds rounds;
  const ObjectKey key{"", "foo"};
  const auto portion = [&] {
    WriteRound round = rounds.Take(key, "1");
    Portion portion(clock_, limits_, round);
    Work(portion, {"a", "b", "c"}, &WriteRound::grants);
    EXPECT_EQ(RetryAfter(portion.Later(absl::AbortedError("of the report"))).has_value(),
              !portion.unfinished());
    return rounds.ResultOf(key, portion)->requeue_after;
  };
  EXPECT_EQ(portion(), absl::Milliseconds(1));
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  clock_.AdvanceTo(clock_.TimeNow() + absl::Seconds(5));
  EXPECT_EQ(portion(), absl::Seconds(45));
  EXPECT_THAT(Tried(), ElementsAre("b", "c"));
}

TEST_F(PortionTest, AnotherErrorOfTheReconcileWaitsToo) {
  refused_ = {"a"};
  refusals_ = {{"a", Wait(429, absl::Seconds(50))}};
  WriteRound round;
  Portion portion(clock_, limits_, round);
  EXPECT_EQ(RetryAfter(portion.Later(absl::AbortedError("x"))), std::nullopt);
  Work(portion, {"a"}, &WriteRound::grants);
  EXPECT_TRUE(portion.Later(absl::OkStatus()).ok());
  EXPECT_EQ(RetryAfter(portion.Later(absl::AbortedError("x"))), absl::Seconds(50));
  EXPECT_EQ(RetryAfter(portion.Later(Wait(429, absl::Seconds(5)))), absl::Seconds(50));
  EXPECT_EQ(RetryAfter(portion.Later(Wait(429, absl::Seconds(55)))), absl::Seconds(55));
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
