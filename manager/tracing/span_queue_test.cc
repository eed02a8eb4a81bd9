#include "manager/tracing/span_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mandate {
namespace {

using testing::ElementsAre;

FinishedSpan SpanOf(const std::string& component, const std::string& name) {
  return {.component = component, .name = name};
}

std::vector<std::string> Names(const std::vector<FinishedSpan>& batch) {
  std::vector<std::string> names;
  for (const FinishedSpan& span : batch) names.push_back(span.name);
  return names;
}

TEST(SpanQueueTest, ComponentsTakeTurns) {
  SpanQueue queue(10);
  for (const char* name : {"a1", "a2", "a3", "a4"}) EXPECT_TRUE(queue.Add(SpanOf("a", name)));
  for (const char* name : {"b1", "b2"}) EXPECT_TRUE(queue.Add(SpanOf("b", name)));
  EXPECT_TRUE(queue.Add(SpanOf("c", "c1")));
  EXPECT_EQ(queue.size(), 7u);
  EXPECT_THAT(Names(queue.TakeBatch(4)), ElementsAre("a1", "b1", "c1", "a2"));
  EXPECT_EQ(queue.size("a"), 2u);
  EXPECT_EQ(queue.size("c"), 0u);
  EXPECT_THAT(Names(queue.TakeBatch(4)), ElementsAre("b2", "a3", "a4"));
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(queue.TakeBatch(4).empty());
}

TEST(SpanQueueTest, TheNextBatchContinuesWithTheNextComponent) {
  SpanQueue queue(10);
  for (int i = 0; i < 3; ++i) {
    for (const char* component : {"a", "b", "c"}) {
      ASSERT_TRUE(queue.Add(SpanOf(component, component + std::to_string(i))));
    }
  }
  EXPECT_THAT(Names(queue.TakeBatch(2)), ElementsAre("a0", "b0"));
  EXPECT_THAT(Names(queue.TakeBatch(2)), ElementsAre("c0", "a1"));
  EXPECT_THAT(Names(queue.TakeBatch(9)), ElementsAre("b1", "c1", "a2", "b2", "c2"));
  EXPECT_TRUE(queue.TakeBatch(0).empty());
}

TEST(SpanQueueTest, AFullComponentDropsItsOwnNewest) {
  SpanQueue queue(2);
  EXPECT_TRUE(queue.Add(SpanOf("loud", "l1")));
  EXPECT_TRUE(queue.Add(SpanOf("loud", "l2")));
  EXPECT_FALSE(queue.Add(SpanOf("loud", "l3")));
  EXPECT_TRUE(queue.Add(SpanOf("quiet", "q1")));
  EXPECT_EQ(queue.size("loud"), 2u);
  EXPECT_EQ(queue.size("quiet"), 1u);
  EXPECT_THAT(Names(queue.TakeBatch(1)), ElementsAre("l1"));
  EXPECT_TRUE(queue.Add(SpanOf("loud", "l4")));
  EXPECT_THAT(Names(queue.TakeBatch(9)), ElementsAre("q1", "l2", "l4"));
}

}  // namespace
}  // namespace mandate
