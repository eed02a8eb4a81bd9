#include "manager/identity/fetch_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace mandate {
namespace {

using Slot = FetchLimiter::Slot;
using ::testing::ElementsAre;

struct FetchLimiterTest : testing::Test {
  Metrics metrics;
  prometheus::Gauge& in_flight = metrics.Gauge("in_flight", "", {});
  prometheus::Gauge& waiting = metrics.Gauge("waiting", "", {});
  prometheus::Counter& had_to_wait = metrics.Counter("had_to_wait", "", {});
  const LimiterMetrics series = {
      .in_flight = &in_flight, .waiting = &waiting, .had_to_wait = &had_to_wait};
};

TEST_F(FetchLimiterTest, GrantsAtOnceUpToTheBoundThenInOrder) {
  FetchLimiter limiter(2, series);
  std::vector<int> order;
  std::vector<Slot> slots(4);
  for (int i = 0; i < 4; ++i) {
    limiter.Acquire([&, i](Slot slot) {
      order.push_back(i);
      slots[static_cast<size_t>(i)] = std::move(slot);
    });
    EXPECT_EQ(had_to_wait.Value(), std::max(0, i - 1));
  }
  EXPECT_THAT(order, ElementsAre(0, 1));
  EXPECT_EQ(in_flight.Value(), 2);
  EXPECT_EQ(waiting.Value(), 2);
  slots[1] = Slot();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_EQ(in_flight.Value(), 2);
  EXPECT_EQ(waiting.Value(), 1);
  slots[0] = Slot();
  slots[2] = Slot();
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  slots[3] = Slot();
  EXPECT_EQ(in_flight.Value(), 0);
}

TEST_F(FetchLimiterTest, ABoundOfZeroIsOne) {
  FetchLimiter limiter(0);
  bool granted = false;
  limiter.Acquire([&](Slot) { granted = true; });
  EXPECT_TRUE(granted);
}

TEST_F(FetchLimiterTest, DroppingThousandsOfSlotsDoesNotRecurse) {
  FetchLimiter limiter(1, series);
  Slot held;
  limiter.Acquire([&](Slot slot) { held = std::move(slot); });
  int granted = 0;
  for (int i = 0; i < 200'000; ++i) limiter.Acquire([&](Slot) { ++granted; });
  held = Slot();
  EXPECT_EQ(granted, 200'000);
  EXPECT_EQ(in_flight.Value(), 0);
}

TEST_F(FetchLimiterTest, SlotsMayOutliveIt) {
  Slot held;
  bool late = false;
  {
    FetchLimiter limiter(1, series);
    limiter.Acquire([&](Slot slot) { held = std::move(slot); });
    limiter.Acquire([&](Slot) { late = true; });
    EXPECT_EQ(waiting.Value(), 1);
  }
  EXPECT_EQ(waiting.Value(), 0);
  held = Slot();
  EXPECT_FALSE(late);
}

}  // namespace
}  // namespace mandate
