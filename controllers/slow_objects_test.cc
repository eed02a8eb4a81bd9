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
    Turn turn(objects_, key);
    EXPECT_FALSE(turn.later());
    turn.End(slow);
  }

  const ObjectKey a_{"", "a"}, b_{"", "b"}, c_{"", "c"};
  SlowObjects objects_{2};
};

TEST_F(SlowObjectsTest, SomeAreAtWorkAtOnce) {
  for (const ObjectKey& key : {a_, b_, c_}) Be(key, /*slow=*/true);
  std::optional<Turn> a(std::in_place, objects_, a_);
  const Turn b(objects_, b_);
  EXPECT_TRUE(a->slow());
  EXPECT_FALSE(a->later() || b.later());
  {
    const Turn c(objects_, c_);
    EXPECT_TRUE(c.later());
    const Turn quick(objects_, {"", "d"});
    EXPECT_FALSE(quick.slow() || quick.later());
  }
  EXPECT_TRUE(Turn(objects_, c_).later()) << "who waited gives no place back";
  a.reset();
  EXPECT_FALSE(Turn(objects_, c_).later());
}

TEST_F(SlowObjectsTest, WhoWasQuickIsSlowNoLonger) {
  Be(a_, true);
  EXPECT_TRUE(Turn(objects_, a_).slow());
  EXPECT_TRUE(Turn(objects_, a_).slow()) << "a reconcile that did not write tells nothing";
  Be(a_, false);
  EXPECT_FALSE(Turn(objects_, a_).slow());
}

TEST(SlowObjectsBoundTest, OneIsAlwaysAtWork) {
  SlowObjects objects(0);
  const ObjectKey key{"", "a"};
  Turn(objects, key).End(true);
  EXPECT_FALSE(Turn(objects, key).later());
}

}  // namespace
}  // namespace mandate
