#include "manager/controller/fair_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mandate {
namespace {

using Queue = FairQueue<std::string>;

std::string TakeAll(Queue& queue, size_t places = 100) {
  std::string all;
  while (auto item = queue.Next(places)) all += item->item + " ";
  return all;
}

TEST(FairQueueTest, FlowsTakeTurnsAndEachIsInOrder) {
  Queue queue({.max_in_flight = 100, .max_slow = 1});
  for (const char* item : {"a1", "a2", "a3", "b1", "c1", "b2"}) queue.Push({item[0]}, item);
  EXPECT_EQ(queue.waiting(), 6u);
  EXPECT_EQ(TakeAll(queue), "a1 b1 c1 a2 b2 a3 ");
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(queue.in_flight(), 6u);
}

TEST(FairQueueTest, AllFlowsShareThePlaces) {
  Queue queue({.max_in_flight = 2, .max_slow = 1});
  for (const char* item : {"a1", "b1", "c1", "d1"}) queue.Push({item[0]}, item);
  EXPECT_EQ(queue.Next(0), std::nullopt);
  EXPECT_EQ(TakeAll(queue, 1), "a1 ");
  EXPECT_EQ(TakeAll(queue), "b1 ");
  queue.Done("a", false, true);
  EXPECT_EQ(TakeAll(queue), "c1 ");
}

TEST(FairQueueTest, ASlowItemGivesUpItsPlace) {
  Queue queue({.max_in_flight = 2, .max_slow = 3});
  for (const char* item : {"a1", "a2", "a3", "b1", "b2", "b3"}) queue.Push({item[0]}, item);
  EXPECT_EQ(TakeAll(queue), "a1 b1 ");
  queue.MarkSlow("a");  // a1
  EXPECT_EQ(TakeAll(queue), "b2 ");
  queue.Done("b", false, true);
  EXPECT_EQ(TakeAll(queue), "b3 ");
  queue.Done("a", true, true);
  EXPECT_EQ(TakeAll(queue), "") << "both places are b's";
  queue.Done("b", false, true);
  queue.Done("b", false, true);
  EXPECT_EQ(TakeAll(queue), "a2 a3 ") << "it hangs no more";
}

TEST(FairQueueTest, TooManySlowItemsStopAllFlows) {
  Queue queue({.max_in_flight = 1, .max_slow = 2});
  for (const char* item : {"a1", "b1", "c1"}) queue.Push({item[0]}, item);
  EXPECT_EQ(TakeAll(queue), "a1 ");
  queue.MarkSlow("a");
  EXPECT_EQ(TakeAll(queue), "b1 ");
  queue.MarkSlow("b");
  EXPECT_EQ(TakeAll(queue), "");
  queue.Done("b", true, false);
  EXPECT_EQ(TakeAll(queue), "c1 ");
}

TEST(FairQueueTest, HangingFlowsLeavePlacesToOthers) {
  Queue queue({.max_in_flight = 1, .max_slow = 4});
  for (const char* item : {"a1", "b1", "c1"}) queue.Push({item[0]}, item, /*hung=*/true);
  const std::optional<Queue::Sent> first = queue.Next(1);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->item, "a1");
  EXPECT_TRUE(first->slow);
  EXPECT_EQ(TakeAll(queue), "b1 ");
  for (const char* item : {"d1", "d2", "a2"}) queue.Push({item[0]}, item);
  EXPECT_EQ(TakeAll(queue), "d1 ");
  queue.Done("d", false, true);
  EXPECT_EQ(TakeAll(queue), "d2 ");
  queue.Done("a", true, false);
  EXPECT_EQ(TakeAll(queue), "c1 ");
  queue.Done("b", true, false);
  EXPECT_EQ(TakeAll(queue), "a2 ") << "it hangs still";
  queue.Done("d", false, true);
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(FairQueueTest, AHangingFlowWaitsWhileOneItemMayBeSent) {
  Queue queue({.max_in_flight = 2, .max_slow = 4});
  queue.Push("a", "a1", /*hung=*/true);
  queue.Push("b", "b1", /*hung=*/true);
  EXPECT_EQ(TakeAll(queue, 1), "a1 ");
  queue.Push("c", "c1");
  EXPECT_EQ(TakeAll(queue, 1), "c1 ");
  queue.Done("c", false, true);
  queue.Done("a", true, true);
  EXPECT_EQ(TakeAll(queue, 1), "b1 ");
}

// By then its turn is among those of flows that hang, and it moves back.
TEST(FairQueueTest, AFlowWithATurnBeginsAndCeasesToHang) {
  Queue queue({.max_in_flight = 2, .max_slow = 2});
  for (const char* item : {"a1", "a2", "b1"}) queue.Push({item[0]}, item);
  EXPECT_EQ(queue.Next(2)->item, "a1");
  queue.MarkSlow("a");
  EXPECT_EQ(TakeAll(queue), "b1 ");
  queue.Push("b", "b2", /*hung=*/true);
  queue.Push("b", "b3");
  EXPECT_EQ(TakeAll(queue), "") << "it has one in flight";
  queue.Done("b", false, true);
  EXPECT_EQ(TakeAll(queue), "b2 b3 ");
  queue.Done("a", true, true);
  queue.Done("b", false, true);
  EXPECT_EQ(TakeAll(queue), "a2 ");
}

TEST(FairQueueTest, DropsTheNewestItemOfTheLongestFlow) {
  Queue queue({.max_in_flight = 1, .max_slow = 1});
  EXPECT_EQ(queue.EvictFromLongestFlow("a"), std::nullopt);
  for (const char* item : {"a1", "a2", "a3", "b1", "b2"}) queue.Push({item[0]}, item);
  EXPECT_EQ(queue.EvictFromLongestFlow("a"), std::nullopt) << "it is the longest itself";
  EXPECT_EQ(queue.EvictFromLongestFlow("b"), std::nullopt) << "it would be as long";
  EXPECT_EQ(queue.EvictFromLongestFlow("c"), "a3");
  EXPECT_EQ(queue.waiting(), 4u);
  EXPECT_EQ(TakeAll(queue), "a1 ");
  queue.Done("a", false, true);
  EXPECT_EQ(TakeAll(queue), "b1 ");
}

// Compared with a simple model: no item is lost or comes twice, and each flow is in order.
TEST(FairQueueTest, AnyOrderOfCalls) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Queue queue({.max_in_flight = 1 + random() % 4, .max_slow = 1 + random() % 4});
    struct InFlight {
      std::string flow;
      bool slow;
    };
    std::vector<InFlight> in_flight;
    std::vector<int> pushed(3), taken(3);
    const auto take = [&] {
      while (auto item = queue.Next(4)) {
        const size_t flow = item->item[0] - 'a';
        EXPECT_EQ(item->item.substr(1), std::to_string(taken[flow]++));
        in_flight.push_back({item->item.substr(0, 1), item->slow});
      }
    };
    const auto finish = [&](size_t i) {
      queue.Done(in_flight[i].flow, in_flight[i].slow, random() % 2 == 0);
      in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(i));
    };
    for (int step = 0; step < 300; ++step) {
      if (random() % 2 == 0) {
        const size_t flow = random() % 3;
        const std::string name(1, static_cast<char>('a' + flow));
        queue.Push(name, name + std::to_string(pushed[flow]++), random() % 8 == 0);
      } else if (!in_flight.empty()) {
        const size_t i = random() % in_flight.size();
        if (random() % 2 == 0 && !std::exchange(in_flight[i].slow, true)) {
          queue.MarkSlow(in_flight[i].flow);
        } else {
          finish(i);
        }
      }
      take();
    }
    while (!in_flight.empty()) {
      finish(0);
      take();
    }
    EXPECT_EQ(taken, pushed);
    EXPECT_EQ(queue.waiting() + queue.in_flight(), 0u);
  }
}

}  // namespace
}  // namespace mandate
