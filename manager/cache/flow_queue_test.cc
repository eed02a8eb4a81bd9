#include "manager/cache/flow_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

class FlowQueueTest : public testing::Test {
 protected:
  // The first letter is the flow.
  void Push(std::initializer_list<const char*> items) {
    for (const std::string item : items) queue_.Push(item.substr(0, 1), item);
  }
  std::string Drain() {
    std::string drained;
    while (auto popped = queue_.Pop(Any)) drained += popped->item + " ";
    return drained;
  }
  static bool Any(const std::string&) { return true; }
  FlowQueue<std::string> queue_;
};

TEST_F(FlowQueueTest, FlowsTakeTurns) {
  Push({"a1", "a2", "a3", "a4", "b1", "b2", "c1"});
  EXPECT_EQ(queue_.size(), 7u);
  EXPECT_EQ(Drain(), "a1 b1 c1 a2 b2 a3 a4 ");
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(FlowQueueTest, OneFlowIsInOrder) {
  Push({"a1", "a2", "a3"});
  EXPECT_EQ(Drain(), "a1 a2 a3 ");
}

TEST_F(FlowQueueTest, AFlowThatWasEmptyComesLast) {
  Push({"a1", "b1", "b2", "c1"});
  EXPECT_EQ(queue_.Pop(Any)->item, "a1");
  Push({"a2"});
  EXPECT_EQ(Drain(), "b1 c1 a2 b2 ");
}

TEST_F(FlowQueueTest, AFlowThatIsPassedOverKeepsItsTurn) {
  Push({"a1", "b1", "b2", "c1", "c2"});
  const auto pop = [&](const std::string& not_of) {
    const auto popped =
        queue_.Pop([&](const std::string& flow) { return not_of.find(flow) == not_of.npos; });
    return popped ? popped->flow + ":" + popped->item : "none";
  };
  EXPECT_EQ(pop("a"), "b:b1");
  EXPECT_EQ(pop("a"), "c:c1");
  EXPECT_EQ(pop("abc"), "none");
  EXPECT_EQ(pop(""), "a:a1");
  EXPECT_EQ(Drain(), "b2 c2 ");
}

TEST_F(FlowQueueTest, ErasedItemsHaveNoTurn) {
  Push({"a1", "a2", "b1", "c1", "c2"});
  queue_.EraseIf([](const std::string& item) { return item == "a1" || item == "b1"; });
  EXPECT_EQ(queue_.size(), 3u);
  EXPECT_EQ(Drain(), "a2 c1 c2 ");
  Push({"b2"});
  EXPECT_EQ(Drain(), "b2 ");
}

TEST_F(FlowQueueTest, AFlowThatIsPassedOverOnceIsNext) {
  Push({"a1", "b1", "c1"});
  EXPECT_EQ(queue_.Pop([](const std::string& flow) { return flow == "b"; })->item, "b1");
  EXPECT_EQ(Drain(), "a1 c1 ");
}

}  // namespace
}  // namespace mandate
