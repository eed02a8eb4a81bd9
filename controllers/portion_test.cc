#include "controllers/portion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "controllers/portion_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(PortionTest, EndsAfterItsWrites) {
  WriteRound round;
  Portion portion(clock_, limits_, round);
  EXPECT_FALSE(Work(portion, {"a", "b", "c"}, &WriteRound::grants));
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  EXPECT_TRUE(portion.unfinished());
  EXPECT_FALSE(Work(portion, {"d"}, &WriteRound::removals)) << "nor is another list begun";
  EXPECT_THAT(Tried(), IsEmpty());
}

// So an object with a few writes does not wait long for others with many.
TEST_F(PortionTest, TheFirstPortionIsSmallAndUnfinishedRoundsShareTheLimit) {
  limits_ = {.max_writes = 12, .first_writes = 2};
  WriteRounds rounds;
  const auto work = [&](const std::string& name, size_t writes, const std::string& version) {
    WriteRound round = rounds.Take({"", name}, version);
    Portion portion(clock_, limits_, round);
    Work(portion, List(writes, "a"), &WriteRound::grants);
    EXPECT_TRUE(rounds.ResultOf({"", name}, portion).ok());
    return Tried().size();
  };
  EXPECT_EQ(work("o", 100, "v1"), 2u) << "the first portion";
  EXPECT_EQ(work("o", 100, "v1"), 12u) << "it is alone";
  EXPECT_EQ(work("p", 100, "v1"), 2u);
  EXPECT_EQ(work("o", 100, "v1"), 6u) << "the two share the limit";
  for (int i = 0; i < 10; ++i) work(StrCat("q", i), 100, "v1");
  EXPECT_EQ(work("o", 100, "v1"), 2u) << "no less than in the first portion";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(work(StrCat("q", i), 1, "v1"), 1u) << "the last ones";
  EXPECT_EQ(work("o", 100, "v1"), 6u);
  EXPECT_EQ(work("o", 100, "v2"), 2u) << "an edit begins another round";
}

TEST_F(PortionTest, LeavesItsGrants) {
  limits_.max_writes = 10;
  WriteRound round;
  Portion portion(clock_, limits_, round);
  portion.LeaveGrants();
  EXPECT_TRUE(Work(portion, {"a"}, &WriteRound::removals));
  EXPECT_TRUE(Work(portion, {"b"}, &WriteRound::revoking_fixes));
  EXPECT_TRUE(Work(portion, {}, &WriteRound::grants));
  EXPECT_FALSE(portion.unfinished());
  EXPECT_FALSE(Work(portion, {"c"}, &WriteRound::grants));
  EXPECT_THAT(Tried(), ElementsAre("a", "b"));
  EXPECT_TRUE(portion.unfinished());
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

// The object is retried with patience, and does not delay other objects meanwhile.
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
  portion.StopWhen([this] { return tried_.size() == 2; });
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

// Otherwise only the first denied writes would be tried, again and again.
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
  Work(last, {"x"}, &WriteRound::revoking_fixes);
  EXPECT_THAT(last.failures(), ElementsAre("3 objects could not be written, the first: x: no"));
  EXPECT_THAT(last.removal_failures(), ElementsAre("deleting x: no")) << "a fix deletes nothing";
}

// A write that was skipped, because the server denies its kind, is not reported with the error of
// another write.
TEST_F(PortionTest, AnErrorIsOfTheWriteThatMetIt) {
  refused_ = {"x"};
  WriteRound round;
  Portion portion(clock_, limits_, round);
  Work(portion, {"x"}, &WriteRound::removals);
  portion.Each(
      List{"skipped"},
      [](const std::string& name) {
        return ObjectKey{"", name};
      },
      round.grants, [](const std::string&) {}, [] {});
  EXPECT_EQ(round.removals.first, "deleting x: no");
  EXPECT_EQ(round.grants.first, "");
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

}  // namespace
}  // namespace mandate
