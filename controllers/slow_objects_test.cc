#include "controllers/slow_objects.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace mandate {
namespace {

using Turn = SlowObjects::Turn;

class SlowObjectsTest : public testing::Test {
 protected:
  void Be(const ObjectKey& key, bool slow) {
    Turn turn(objects_, key, now_);
    EXPECT_FALSE(turn.must_wait());
    turn.End(slow);
  }

  // Whether the object must wait. If so, its reconcile is repeated later.
  bool Waits(const ObjectKey& key, bool revokes = false) {
    Turn turn(objects_, key, now_);
    if (!turn.must_wait()) return false;
    if (revokes) turn.NoteRevocation();
    EXPECT_EQ(turn.RequeueLater().requeue_after, SlowObjects::kLater);
    return true;
  }

  const ObjectKey a_{"", "a"}, b_{"", "b"}, c_{"", "c"};
  SlowObjects objects_{2};
  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(SlowObjectsTest, SomeAreAtWorkAtOnce) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  EXPECT_TRUE(a->slow());
  EXPECT_FALSE(a->must_wait() || b.must_wait());
  {
    const Turn c(objects_, c_, now_);
    EXPECT_TRUE(c.must_wait());
    const Turn quick(objects_, {"", "d"}, now_);
    EXPECT_FALSE(quick.slow() || quick.must_wait());
  }
  EXPECT_TRUE(Waits(c_)) << "who waited gives no place back";
  a.reset();
  EXPECT_FALSE(Waits(c_));
}

TEST_F(SlowObjectsTest, WhoWaitsForLongerIsFirst) {
  const ObjectKey d{"", "d"};
  for (const ObjectKey& key : {a_, b_, c_, d}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_), b(std::in_place, objects_, b_, now_);
  EXPECT_TRUE(Waits(c_));
  EXPECT_TRUE(Waits(d));
  a.reset();
  EXPECT_TRUE(Waits(a_)) << "it has just had its turn";
  EXPECT_TRUE(Waits(d));
  EXPECT_FALSE(Waits(c_));
  b.reset();
  EXPECT_FALSE(Waits(d)) << "both places are free";
}

TEST_F(SlowObjectsTest, WhoDoesNotComeBackHoldsUpNobody) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  EXPECT_TRUE(Waits(c_));
  a.reset();
  EXPECT_TRUE(Waits(a_));
  now_ += SlowObjects::kLapse + absl::Milliseconds(1);
  EXPECT_FALSE(Waits(a_));
}

TEST_F(SlowObjectsTest, WhoComesBackKeepsItsPlace) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  for (const absl::Time end = now_ + 2 * SlowObjects::kLapse; now_ < end;
       now_ += SlowObjects::kLapse / 2) {
    EXPECT_TRUE(Waits(c_));
  }
  a.reset();
  EXPECT_TRUE(Waits(a_));
}

// An object that comes back late, for example because the queue was long, keeps its place.
TEST_F(SlowObjectsTest, WhoComesBackLateKeepsItsPlace) {
  const ObjectKey d{"", "d"};
  for (const ObjectKey& key : {a_, b_, c_, d}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  EXPECT_TRUE(Waits(c_, /*revokes=*/true));
  now_ += 2 * SlowObjects::kLapse;
  EXPECT_TRUE(Waits(c_));
  EXPECT_TRUE(Waits(d, /*revokes=*/true));
  a.reset();
  EXPECT_TRUE(Waits(d));
  EXPECT_FALSE(Waits(c_));
}

TEST_F(SlowObjectsTest, WhoRevokesIsBeforeWhoGrants) {
  const ObjectKey d{"", "d"}, e{"", "e"}, f{"", "f"};
  for (const ObjectKey& key : {a_, b_, c_, d, e, f}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  EXPECT_TRUE(Waits(c_));
  EXPECT_TRUE(Waits(d));
  EXPECT_TRUE(Waits(e, /*revokes=*/true));
  EXPECT_TRUE(Waits(f, /*revokes=*/true));
  a.reset();
  EXPECT_TRUE(Waits(c_));
  EXPECT_TRUE(Waits(d));
  EXPECT_TRUE(Waits(f));
  EXPECT_FALSE(Waits(e));
  EXPECT_TRUE(Waits(c_));
  EXPECT_FALSE(Waits(f));
  EXPECT_TRUE(Waits(d));
  EXPECT_FALSE(Waits(c_)) << "of the same, who came first";
}

// An endless sequence of revocations does not make the oldest object wait forever.
TEST_F(SlowObjectsTest, SomeTurnsAreTheOldests) {
  const ObjectKey revokers[] = {{"", "d"}, {"", "e"}};
  for (const ObjectKey& key : {a_, b_, c_, revokers[0], revokers[1]}) Be(key, /*slow=*/true);
  const Turn a(objects_, a_, now_);
  std::optional<Turn> b(std::in_place, objects_, b_, now_);
  EXPECT_TRUE(Waits(c_));
  size_t turns = 0;
  for (; turns < 10; ++turns) {
    const ObjectKey& revoker = revokers[turns % 2];
    EXPECT_TRUE(Waits(revoker, /*revokes=*/true));
    b.reset();
    if (!Waits(c_)) break;
    b.emplace(objects_, revoker, now_);
    EXPECT_TRUE(b->has_slot());
  }
  EXPECT_EQ(turns, SlowObjects::kOldestsTurn - 1);
}

// An event may cause an early reconcile, which may need different writes.
TEST_F(SlowObjectsTest, WhoWaitsIsPlannedAgain) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  const Turn a(objects_, a_, now_), b(objects_, b_, now_);
  EXPECT_TRUE(Waits(c_, /*revokes=*/true));
  const auto still_waiting = [&](absl::Duration after) {
    now_ += after;
    Turn turn(objects_, c_, now_);
    EXPECT_TRUE(turn.must_wait());
    turn.RequeueLater();
    return turn.still_waiting();
  };
  EXPECT_TRUE(still_waiting(SlowObjects::kLater));
  EXPECT_FALSE(still_waiting(SlowObjects::kLater - absl::Milliseconds(1)));
  for (absl::Duration waited; waited + SlowObjects::kLater < SlowObjects::kPlanAgain;
       waited += SlowObjects::kLater) {
    EXPECT_TRUE(still_waiting(SlowObjects::kLater));
  }
  EXPECT_FALSE(still_waiting(SlowObjects::kLater));
}

// An object is slow only together with its target, which is a namespace or an object of cluster
// scope.
TEST_F(SlowObjectsTest, TargetsAreSlowOneByOne) {
  const ObjectKey one{"slow", "x"}, other{"slow", "y"}, quick{"quick", "x"}, in_cluster{"", "slow"};
  const struct {
    const char* of;
    bool slow;
    TriedTargets tried;
    bool one_is_quick, in_cluster_is_quick;
  } kTurns[] = {
      {"its status alone is slow", true, {}, true, true},
      {"one is", true, {{TargetOf(one), false}, {TargetOf(quick), true}}, false, true},
      {"another was quick", true, {{TargetOf(quick), true}}, false, true},
      {"of the cluster too", true, {{in_cluster, false}}, false, false},
      {"one is quick again", true, {{TargetOf(one), true}}, true, false},
      {"all is quick", false, {{TargetOf(quick), true}}, true, true},
  };
  for (const auto& turn : kTurns) {
    Turn(objects_, a_, now_).End(turn.slow, turn.tried);
    const Turn a(objects_, a_, now_), b(objects_, b_, now_);
    EXPECT_EQ(a.IsQuick(one), turn.one_is_quick) << turn.of;
    EXPECT_EQ(a.IsQuick(other), turn.one_is_quick) << turn.of;
    EXPECT_EQ(a.IsQuick(in_cluster), turn.in_cluster_is_quick) << turn.of;
    EXPECT_TRUE(a.IsQuick(quick)) << turn.of;
    EXPECT_TRUE(b.IsQuick(one)) << "another object's";
  }
}

TEST_F(SlowObjectsTest, WhoHasVeryManySlowTargetsWritesNothingEarly) {
  TriedTargets tried;
  for (size_t i = 0; i + 1 < SlowObjects::kMaxSlowTargets; ++i) {
    tried[{std::to_string(i), ""}] = false;
  }
  Turn(objects_, a_, now_).End(true, tried);
  EXPECT_TRUE(Turn(objects_, a_, now_).IsQuick({"ns", "x"}));
  Turn(objects_, a_, now_).End(true, {{{"last", ""}, false}});
  EXPECT_FALSE(Turn(objects_, a_, now_).IsQuick({"ns", "x"}));
}

TEST_F(SlowObjectsTest, WhoFindsASlowTargetEarlyWritesNoMoreEarlyBeforeItsTurn) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  const auto early = [&](bool slow) {
    Turn c(objects_, c_, now_);
    if (!c.TakeEarly()) return false;
    c.EndEarly(slow, {{{"ns", ""}, !slow}});
    EXPECT_EQ(c.IsQuick({"ns", "x"}), !slow);
    c.RequeueLater();
    return true;
  };
  EXPECT_TRUE(early(false));
  EXPECT_TRUE(early(true));
  EXPECT_FALSE(early(false));
  a.reset();
  Be(c_, true);
  a.emplace(objects_, a_, now_);
  EXPECT_TRUE(early(false));
}

TEST_F(SlowObjectsTest, FewWriteEarlyAtOnceAndTheOthersArePlannedAgain) {
  const ObjectKey d{"", "d"};
  for (const ObjectKey& key : {a_, b_, c_, d}) Be(key, /*slow=*/true);
  const Turn a(objects_, a_, now_), b(objects_, b_, now_);
  std::optional<Turn> c(std::in_place, objects_, c_, now_);
  EXPECT_TRUE(c->TakeEarly());
  {
    Turn other(objects_, d, now_);
    EXPECT_FALSE(other.TakeEarly());
    other.RequeueLater();
  }
  now_ += SlowObjects::kLater;
  c->RequeueLater();
  c.reset();
  Turn other(objects_, d, now_);
  EXPECT_FALSE(other.still_waiting());
  EXPECT_TRUE(other.TakeEarly());
}

TEST_F(SlowObjectsTest, WhoIsAtWorkWaitsNoLonger) {
  const ObjectKey d{"", "d"};
  for (const ObjectKey& key : {a_, b_, c_, d}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_), b(std::in_place, objects_, b_, now_);
  EXPECT_TRUE(Waits(c_));
  EXPECT_TRUE(Waits(d));
  a.reset();
  const Turn c(objects_, c_, now_);
  EXPECT_TRUE(c.has_slot());
  b.reset();
  EXPECT_FALSE(Waits(d));
}

TEST_F(SlowObjectsTest, WhoBeginsToWaitIsTold) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  EXPECT_FALSE(Turn(objects_, c_, now_).still_waiting());
  EXPECT_FALSE(Turn(objects_, c_, now_).still_waiting()) << "nobody said that it waits";
  EXPECT_TRUE(Waits(c_));
  EXPECT_TRUE(Waits(c_));
  now_ += SlowObjects::kLater;
  EXPECT_TRUE(Turn(objects_, c_, now_).still_waiting());
  a.reset();
  EXPECT_FALSE(Waits(a_)) << "the last reconcile of c had nothing to write";
}

TEST_F(SlowObjectsTest, ASlowReportIsKnownForAWhile) {
  EXPECT_FALSE(Turn(objects_, a_, now_).reports_slowly());
  Turn(objects_, a_, now_).NoteSlowReport();
  Turn(objects_, c_, now_).NoteSlowReport();
  now_ += SlowObjects::kNoReports - absl::Milliseconds(1);
  EXPECT_TRUE(Turn(objects_, a_, now_).reports_slowly());
  EXPECT_FALSE(Turn(objects_, b_, now_).reports_slowly());
  now_ += absl::Milliseconds(1);
  EXPECT_FALSE(Turn(objects_, a_, now_).reports_slowly());
}

TEST_F(SlowObjectsTest, WhoWasQuickIsSlowNoLonger) {
  Be(a_, true);
  EXPECT_TRUE(Turn(objects_, a_, now_).slow());
  EXPECT_TRUE(Turn(objects_, a_, now_).slow()) << "a reconcile that did not write tells nothing";
  Be(a_, false);
  EXPECT_FALSE(Turn(objects_, a_, now_).slow());
}

TEST_F(SlowObjectsTest, WhoBecomesQuickGivesItsPlaceBack) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  for (const ObjectKey& key : {a_, b_}) Be(key, /*slow=*/false);
  EXPECT_FALSE(Turn(objects_, c_, now_).must_wait());
}

TEST(SlowObjectsBoundTest, OneIsAlwaysAtWork) {
  SlowObjects objects(0);
  const ObjectKey key{"", "a"};
  Turn(objects, key, absl::UnixEpoch()).End(true);
  EXPECT_FALSE(Turn(objects, key, absl::UnixEpoch()).must_wait());
}

}  // namespace
}  // namespace mandate
