#include "controllers/put_off.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Turn = SlowObjects::Turn;

class PutOffTest : public testing::Test {
 protected:
  PutOffTest() {
    for (const ObjectKey* key : {&a_, &b_}) Turn(objects_, *key, clock_.TimeNow()).End(true);
  }
  // Whether the reconcile ends here. Each report takes the time `takes_`.
  bool Ends(Turn& turn, bool writes) {
    return PutOff({}, clock_, {}, turn, writes ? Planned::kGrants : Planned::kNothing,
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

TEST_F(PutOffTest, AQuickObjectGoesOnAndSaysNothing) {
  Turn turn(objects_, quick_, clock_.TimeNow());
  EXPECT_FALSE(Ends(turn, true));
  EXPECT_EQ(reports_, 0);
}

TEST_F(PutOffTest, ASlowOneSaysSoBeforeItWritesAndBeforeItWaits) {
  Turn at_work(objects_, a_, clock_.TimeNow());
  EXPECT_FALSE(Ends(at_work, true));
  EXPECT_EQ(reports_, 1);
  Turn waits(objects_, b_, clock_.TimeNow());
  EXPECT_TRUE(Ends(waits, true));
  EXPECT_EQ(reports_, 2);
}

TEST_F(PutOffTest, WhoHasNothingToWriteNeedsNoTurn) {
  const Turn at_work(objects_, a_, clock_.TimeNow());
  Turn other(objects_, b_, clock_.TimeNow());
  EXPECT_FALSE(Ends(other, false));
  EXPECT_EQ(reports_, 0);
}

TEST_F(PutOffTest, WhoRevokesIsFirst) {
  const ObjectKey d{"", "d"};
  Turn(objects_, d, clock_.TimeNow()).End(true);
  const auto put_off = [&](const ObjectKey& key, Planned planned) {
    Turn turn(objects_, key, clock_.TimeNow());
    const bool is =
        PutOff({}, clock_, {}, turn, planned, [](const CallContext&) { return absl::OkStatus(); });
    if (is) turn.Later();
    return is;
  };
  std::optional<Turn> at_work(std::in_place, objects_, a_, clock_.TimeNow());
  EXPECT_TRUE(put_off(b_, Planned::kGrants));
  EXPECT_TRUE(put_off(d, Planned::kRevocations));
  at_work.reset();
  EXPECT_TRUE(put_off(b_, Planned::kGrants));
  EXPECT_FALSE(put_off(d, Planned::kRevocations));
}

TEST(PlannedTest, TheFirstOfWhatThereIsToWrite) {
  struct Plan {
    size_t count;
    bool revoking;
    size_t writes() const { return count; }
    bool revokes() const { return revoking; }
  };
  EXPECT_EQ(PlannedBy(Plan{0, false}), Planned::kNothing);
  EXPECT_EQ(PlannedBy(Plan{1, false}), Planned::kGrants);
  EXPECT_EQ(PlannedBy(Plan{2, true}), Planned::kRevocations);
}

TEST_F(PutOffTest, AStatusThatIsSlowToWriteIsWaitedForBrieflyAndNotAgain) {
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
