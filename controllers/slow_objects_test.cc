#include "controllers/slow_objects.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace mandate {
namespace {

using Turn = SlowObjects::Turn;

class SlowObjectsTest : public testing::Test {
 protected:
  void Be(const ObjectKey& key, bool slow) {
    Turn turn(objects_, key, now_);
    EXPECT_FALSE(turn.later());
    turn.End(slow);
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
  EXPECT_FALSE(a->later() || b.later());
  {
    const Turn c(objects_, c_, now_);
    EXPECT_TRUE(c.later());
    const Turn quick(objects_, {"", "d"}, now_);
    EXPECT_FALSE(quick.slow() || quick.later());
  }
  EXPECT_TRUE(Turn(objects_, c_, now_).later()) << "who waited gives no place back";
  a.reset();
  EXPECT_FALSE(Turn(objects_, c_, now_).later());
}

TEST_F(SlowObjectsTest, WhoWaitsForLongerIsFirst) {
  const ObjectKey d{"", "d"};
  for (const ObjectKey& key : {a_, b_, c_, d}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_), b(std::in_place, objects_, b_, now_);
  EXPECT_TRUE(Turn(objects_, c_, now_).later());
  EXPECT_TRUE(Turn(objects_, d, now_).later());
  a.reset();
  EXPECT_TRUE(Turn(objects_, a_, now_).later()) << "it has just had its turn";
  EXPECT_TRUE(Turn(objects_, d, now_).later());
  EXPECT_FALSE(Turn(objects_, c_, now_).later());
  b.reset();
  EXPECT_FALSE(Turn(objects_, d, now_).later()) << "both places are free";
}

TEST_F(SlowObjectsTest, WhoDoesNotComeBackHoldsUpNobody) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_, now_);
  const Turn b(objects_, b_, now_);
  EXPECT_TRUE(Turn(objects_, c_, now_).later());
  a.reset();
  EXPECT_TRUE(Turn(objects_, a_, now_).later());
  now_ += SlowObjects::kLapse + absl::Milliseconds(1);
  EXPECT_FALSE(Turn(objects_, a_, now_).later());
}

TEST_F(SlowObjectsTest, WhoBeginsToWaitIsTold) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  const Turn a(objects_, a_, now_), b(objects_, b_, now_);
  EXPECT_FALSE(Turn(objects_, c_, now_).waits_still());
  EXPECT_TRUE(Turn(objects_, c_, now_).waits_still());
  Turn(objects_, c_, now_).Leave();
  EXPECT_FALSE(Turn(objects_, c_, now_).waits_still()) << "it waits anew";
}

TEST_F(SlowObjectsTest, ASlowReportIsKnownForAWhile) {
  EXPECT_FALSE(Turn(objects_, a_, now_).reports_slowly());
  Turn(objects_, a_, now_).NoteSlowReport();
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

TEST(SlowObjectsBoundTest, OneIsAlwaysAtWork) {
  SlowObjects objects(0);
  const ObjectKey key{"", "a"};
  Turn(objects, key, absl::UnixEpoch()).End(true);
  EXPECT_FALSE(Turn(objects, key, absl::UnixEpoch()).later());
}

}  // namespace
}  // namespace mandate
