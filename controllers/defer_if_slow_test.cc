#include "controllers/defer_if_slow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Turn = SlowObjects::Turn;

class DeferIfSlowTest : public testing::Test {
 protected:
  DeferIfSlowTest() {
    for (const ObjectKey* key : {&a_, &b_}) Turn(objects_, *key, clock_.TimeNow()).End(true);
  }
  // Whether the reconcile ends here. Each report takes the time `takes_`.
  bool Ends(Turn& turn, bool writes) {
    return DeferIfSlow({}, clock_, {}, turn, writes ? WriteKind::kGrants : WriteKind::kNothing,
                       [this](const CallContext& context) {
                         ++reports_;
                         const absl::Time end = clock_.TimeNow() + takes_;
                         clock_.AdvanceTo(std::min(end, context.deadline));
                         return end > context.deadline ? absl::DeadlineExceededError("late")
                                                       : absl::OkStatus();
                       });
  }

  const ObjectKey a_{"", "a"}, b_{"", "b"}, quick_{"", "c"};
  SimulatedClock clock_;
  SlowObjects objects_{1};
  absl::Duration takes_ = absl::ZeroDuration();
  int reports_ = 0;
};

TEST_F(DeferIfSlowTest, AQuickObjectGoesOnAndSaysNothing) {
  Turn turn(objects_, quick_, clock_.TimeNow());
  EXPECT_FALSE(Ends(turn, true));
  EXPECT_EQ(reports_, 0);
}

TEST_F(DeferIfSlowTest, ASlowOneSaysSoBeforeItWritesAndBeforeItWaits) {
  Turn at_work(objects_, a_, clock_.TimeNow());
  EXPECT_FALSE(Ends(at_work, true));
  EXPECT_EQ(reports_, 1);
  Turn waits(objects_, b_, clock_.TimeNow());
  EXPECT_TRUE(Ends(waits, true));
  EXPECT_EQ(reports_, 2);
}

TEST_F(DeferIfSlowTest, WhoHasNothingToWriteNeedsNoTurn) {
  const Turn at_work(objects_, a_, clock_.TimeNow());
  Turn other(objects_, b_, clock_.TimeNow());
  EXPECT_FALSE(Ends(other, false));
  EXPECT_EQ(reports_, 0);
}

TEST_F(DeferIfSlowTest, WhoRevokesIsFirst) {
  const ObjectKey d{"", "d"};
  Turn(objects_, d, clock_.TimeNow()).End(true);
  const auto defer_if_slow = [&](const ObjectKey& key, WriteKind planned) {
    Turn turn(objects_, key, clock_.TimeNow());
    const bool is = DeferIfSlow({}, clock_, {}, turn, planned,
                                [](const CallContext&) { return absl::OkStatus(); });
    if (is) turn.RequeueLater();
    return is;
  };
  std::optional<Turn> at_work(std::in_place, objects_, a_, clock_.TimeNow());
  EXPECT_TRUE(defer_if_slow(b_, WriteKind::kGrants));
  EXPECT_TRUE(defer_if_slow(d, WriteKind::kRevocations));
  at_work.reset();
  EXPECT_TRUE(defer_if_slow(b_, WriteKind::kGrants));
  EXPECT_FALSE(defer_if_slow(d, WriteKind::kRevocations));
}

TEST(PlannedTest, TheFirstOfWhatThereIsToWrite) {
  struct Plan {
    size_t count;
    bool revoking;
    size_t writes() const { return count; }
    bool revokes() const { return revoking; }
  };
  EXPECT_EQ(WriteKindOf(Plan{0, false}), WriteKind::kNothing);
  EXPECT_EQ(WriteKindOf(Plan{1, false}), WriteKind::kGrants);
  EXPECT_EQ(WriteKindOf(Plan{2, true}), WriteKind::kRevocations);
}

TEST_F(DeferIfSlowTest, AStatusThatIsSlowToWriteIsWaitedForBrieflyAndNotAgain) {
  takes_ = absl::Minutes(1);
  const absl::Time begun = clock_.TimeNow();
  const Turn at_work(objects_, a_, begun);
  {
    Turn waits(objects_, b_, begun);
    EXPECT_TRUE(Ends(waits, true));
  }
  EXPECT_EQ(clock_.TimeNow() - begun, PortionLimits().max_time);
  Turn again(objects_, b_, clock_.TimeNow());
  EXPECT_TRUE(Ends(again, true));
  EXPECT_EQ(reports_, 1);
  Turn without_writes(objects_, b_, clock_.TimeNow());
  EXPECT_TRUE(Ends(without_writes, false)) << "its status would have to be written";
}

}  // namespace
}  // namespace mandate
