// By the queue, which alone can make the items of a level ready.
#include "manager/controller/ready_level.h"

#include <gtest/gtest.h>

#include "manager/controller/testing/work_queue_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ReadyLevelTest = WorkQueueTest;

TEST_F(ReadyLevelTest, NamespacesTakeTurns) {
  for (int i = 0; i < 100; ++i) queue_.Add({{"large", StrCat("l", i)}}, {}, now_);
  queue_.Add({{"small", "a"}}, {}, now_);
  queue_.Add({{"small", "b"}}, {}, now_);
  queue_.Add({{"", "node"}}, {}, now_);
  Names names = Drain();
  ASSERT_EQ(names.size(), 103u);
  names.resize(8);
  EXPECT_EQ(names, (Names{"l0", "a", "node", "l1", "b", "l2", "l3", "l4"}));
}

TEST_F(ReadyLevelTest, ANamespaceThatComesAgainAtOnceWaitsForTheOthers) {
  queue_.Add({{"busy", "x"}}, {}, now_);
  queue_.Add({{"busy", "y"}}, {}, now_);
  queue_.Add({{"other", "a"}}, {}, now_);
  Names names;
  for (int i = 0; i < 6; ++i) {
    const WorkItem* item = Get();
    names.push_back(item->request().key.name);
    queue_.Add(item->request(), {}, now_);
    Done(*item);
  }
  EXPECT_EQ(names, (Names{"x", "a", "y", "a", "x", "a"}));
}

TEST_F(ReadyLevelTest, NamespacesTakeTurnsAtEachPriority) {
  for (int i = 0; i < 6; ++i) {
    queue_.Add({{"large", StrCat("l", i)}}, {.priority = kHighPriority, .after = {}}, now_);
  }
  queue_.Add({{"small", "a"}}, {}, now_);
  queue_.Add({{"small", "a"}}, {.priority = kHighPriority, .after = {}}, now_);
  EXPECT_EQ(Drain(), (Names{"l0", "a", "l1", "l2", "l3", "l4", "l5"})) << "its namespace is next";
}

}  // namespace
}  // namespace mandate
