#include "manager/controller/work_queue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/testing/work_queue_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// One millisecond after the last add.
TEST_F(WorkQueueTest, HandsOutInOrder) {
  struct Added {
    const char* name;
    int priority = 0;
    int after = 0;  // milliseconds
  };
  const struct {
    const char* what;
    std::vector<Added> adds;
    std::vector<std::string> handed_out;  // with priorities
  } rows[] = {
      {"in the order of adds", {{"a"}, {"b"}, {"c"}}, {"a 0", "b 0", "c 0"}},
      {"a duplicate keeps its place", {{"a"}, {"b"}, {"a"}}, {"a 0", "b 0"}},
      {"the highest priority first",
       {{"low", -100}, {"zero"}, {"high", 5}},
       {"high 5", "zero 0", "low -100"}},
      {"a duplicate raises the priority, and goes to the end of its class",
       {{"a", -100}, {"b"}, {"a"}},
       {"b 0", "a 0"}},
      {"a duplicate never lowers the priority", {{"a", 3}, {"b", 1}, {"a", -100}}, {"a 3", "b 1"}},
      {"a duplicate raises the priority of a waiting request",
       {{"a", -100, 1}, {"a", 7, 2}},
       {"a 7"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(Get(), nullptr);
    for (const Added& add : row.adds) {
      Add(add.name, {.priority = add.priority, .after = add.after * kMs});
    }
    now_ += kMs;
    EXPECT_EQ(Len(), row.handed_out.size());
    std::vector<std::string> handed_out;
    while (const WorkItem* item = Get()) {
      handed_out.push_back(item->request().key.name + " " + std::to_string(item->priority()));
      Done(*item);
    }
    EXPECT_EQ(handed_out, row.handed_out);
    EXPECT_EQ(Len(), 0u);
    EXPECT_EQ(queue_.Items(), 0u);
  }
}

TEST_F(WorkQueueTest, UrgentRequestsDoNotHoldUpTheOthersWithoutEnd) {
  Add("zero-1");
  Add("zero-2");
  Add("low-1", {.priority = kLowPriority, .after = {}});
  Add("low-2", {.priority = kLowPriority, .after = {}});
  Names others;
  int urgent = 0;
  for (int i = 0; others.size() < 4; ++i) {
    ASSERT_LT(i, 100);
    Add(StrCat("edit-", i), {.priority = kHighPriority, .after = {}});
    const WorkItem* item = Get();
    const std::string& name = item->request().key.name;
    name.starts_with("edit") ? void(++urgent) : others.push_back(name);
    Done(*item);
  }
  EXPECT_EQ(urgent, 3 * 4);
  EXPECT_EQ(others, (Names{"low-1", "zero-1", "low-2", "zero-2"}));
}

TEST_F(WorkQueueTest, ARequestThatIsReadyEarlierGoesFirst) {
  Add("late", {.after = 20 * kMs});
  Add("early", {.after = 10 * kMs});
  now_ += 30 * kMs;
  Add("now");  // became ready after both, although no call has looked at them
  EXPECT_EQ(Drain(), (Names{"early", "late", "now"}));
}

TEST_F(WorkQueueTest, DistinguishesNamespaces) {
  queue_.Add({{"x", "a"}}, {}, now_);
  queue_.Add({{"y", "a"}}, {}, now_);
  EXPECT_EQ(Len(), 2u);
}

TEST_F(WorkQueueTest, AnItemInProcessIsNotHandedOutAgainBeforeDone) {
  const WorkItem* item = AddAndGet("a");
  Add("a");
  Add("a");
  EXPECT_EQ(Get(), nullptr);
  EXPECT_EQ(Len(), 0u);
  Done(*item);
  EXPECT_EQ(Len(), 1u);
  EXPECT_EQ(Drain(), Names{"a"});  // once
}

TEST_F(WorkQueueTest, ThePriorityOfOneRoundDoesNotLeakIntoTheNext) {
  const WorkItem* item = AddAndGet("a", {.priority = 9});
  Add("a", {.priority = -100});
  EXPECT_EQ(item->priority(), 9);  // this round's
  Done(*item);
  item = Get();
  EXPECT_EQ(item->priority(), -100);
  Done(*item);
}

TEST_F(WorkQueueTest, APriorityAddedWhileInProcessCounts) {
  Add("a");
  Add("b", {.priority = 1});
  const WorkItem* b = Get();
  ASSERT_EQ(b->request(), Req("b"));
  Add("b", {.priority = -100});
  Add("b", {.priority = 4});
  Done(*b);
  EXPECT_EQ(Drain(), (Names{"b", "a"}));
}

TEST_F(WorkQueueTest, OfManyPrioritiesTheHighestGoesFirstButForEachFourth) {
  std::set<int> priorities;
  for (int i = 0; i < 100; ++i) {
    priorities.insert((i * 37) % 100);
    Add("p" + std::to_string(i), {.priority = (i * 37) % 100});
  }
  for (int choice = 1; const WorkItem* item = Get(); ++choice) {
    const bool highest = item->priority() == *priorities.rbegin();
    EXPECT_EQ(highest, choice % 4 != 0 || priorities.size() == 1) << choice;
    priorities.erase(item->priority());
    Done(*item);
  }
  EXPECT_TRUE(priorities.empty());
}

TEST_F(WorkQueueTest, ARequestIsReadyAtItsEarliestTime) {
  const struct {
    const char* what;
    std::vector<absl::Duration> adds;  // after how long
    absl::Duration ready;
  } rows[] = {
      {"waits", {10 * kMs}, 10 * kMs},
      {"the earliest wins, added first", {10 * kMs, 20 * kMs}, 10 * kMs},
      {"the earliest wins, added last", {20 * kMs, 10 * kMs}, 10 * kMs},
      {"a later time does not delay a ready request", {{}, 10 * kMs}, {}},
      {"an add makes a waiting request ready", {absl::Hours(1), {}}, {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    for (const absl::Duration after : row.adds) Add("a", {.after = after});
    if (row.ready > absl::ZeroDuration()) {
      EXPECT_EQ(Len(), 0u);
      EXPECT_EQ(Get(), nullptr);
      EXPECT_EQ(queue_.NextReady(), now_ + row.ready);
      now_ += row.ready;
    }
    EXPECT_EQ(Len(), 1u);
    EXPECT_EQ(queue_.NextReady(), absl::InfiniteFuture());
    EXPECT_EQ(Drain(), Names{"a"});
    now_ += absl::Hours(2);
    EXPECT_EQ(Get(), nullptr) << "once";
  }
}

TEST_F(WorkQueueTest, AnItemThatBecomesDueInProcessIsHandedOutAfterDone) {
  const WorkItem* item = AddAndGet("a");
  Add("a", {.after = 5 * kMs});
  now_ += 10 * kMs;
  EXPECT_EQ(Get(), nullptr);
  Done(*item);
  EXPECT_EQ(Drain(), Names{"a"});
}

TEST_F(WorkQueueTest, AnItemThatWaitsBeyondItsProcessingIsHandedOutWhenDue) {
  const WorkItem* item = AddAndGet("a");
  Add("a", {.after = 50 * kMs});
  now_ += 10 * kMs;
  Done(*item);
  EXPECT_EQ(Get(), nullptr);
  now_ += 40 * kMs;
  EXPECT_EQ(Drain(), Names{"a"});
}

TEST_F(WorkQueueTest, AFullQueueRefusesNewRequests) {
  WorkQueue queue({.max_items = 2});
  EXPECT_TRUE(queue.Add(Req("a"), {}, now_));
  EXPECT_TRUE(queue.Add(Req("b"), {.after = absl::Hours(1)}, now_));
  EXPECT_FALSE(queue.Add(Req("c"), {}, now_));
  EXPECT_FALSE(queue.Add(Req("c"), {.after = kMs}, now_));
  EXPECT_TRUE(queue.Add(Req("a"), {}, now_));
  const WorkItem* item = queue.Get(now_);
  EXPECT_FALSE(queue.Add(Req("c"), {}, now_));
  queue.Done(*item, {}, now_);
  EXPECT_TRUE(queue.Add(Req("c"), {}, now_));

  UpdateMetrics(queue);
  EXPECT_EQ(Counter("workqueue_rejected_total"), 3);
}

TEST_F(WorkQueueTest, HoldsExactlyAsMuchAsItMay) {
  for (const size_t max_items : {2u, 300u, 5000u}) {
    WorkQueue queue({.max_items = max_items});
    size_t held = 0;
    // Each key twice, some of them with a later time.
    for (size_t i = 0; i < 4 * max_items; ++i) {
      const Request request = Req(std::to_string(i / 2));
      const bool taken = queue.Add(request, {.after = (i % 64 == 0 ? 1 : 0) * kMs}, now_);
      EXPECT_EQ(taken, i / 2 < max_items);
      held += taken && i % 2 == 0;
    }
    EXPECT_EQ(queue.Items(), max_items);
    EXPECT_EQ(held, max_items);
    EXPECT_FALSE(queue.Add(Req("more"), {}, now_));
    EXPECT_TRUE(queue.Add(Req("0"), {}, now_));
    queue.Done(*queue.Get(now_), {}, now_);
    EXPECT_TRUE(queue.Add(Req("more"), {}, now_));
    EXPECT_FALSE(queue.Add(Req("even more"), {}, now_));
  }
}

TEST_F(WorkQueueTest, APeakLeavesNothingBehind) {
  for (int round = 0; round < 3; ++round) {
    constexpr size_t kPeak = 40'000;
    for (size_t i = 0; i < kPeak; ++i) Add(std::to_string(i));
    EXPECT_EQ(queue_.Items(), kPeak);
    UpdateMetrics(queue_);
    const WorkItem* item = Get();
    EXPECT_EQ(Drain().size(), kPeak - 1);
    UpdateMetrics(queue_);  // the item that is out stays valid
    EXPECT_EQ(item->request(), Req("0"));
    Done(*item);
    UpdateMetrics(queue_);
    EXPECT_EQ(queue_.Items(), 0u);
    EXPECT_EQ(Get(), nullptr);
  }
  Add("a");
  EXPECT_EQ(Drain(), Names{"a"});
}

TEST_F(WorkQueueTest, ShutDownDropsQueuedRequests) {
  Add("ready");
  Add("in process");
  Add("waiting", {.after = kMs});
  const WorkItem* item = Get();
  ASSERT_EQ(item->request(), Req("ready"));
  Add("ready");  // while in process
  queue_.ShutDown();
  EXPECT_EQ(Get(), nullptr);
  EXPECT_EQ(Len(), 0u);
  EXPECT_EQ(queue_.NextReady(), absl::InfiniteFuture());
  EXPECT_TRUE(Add("new"));
  Fail(*item);
  now_ += absl::Hours(1);
  EXPECT_EQ(Get(), nullptr);
  EXPECT_EQ(queue_.Items(), 0u);
}

TEST_F(WorkQueueTest, ANewRequestHasNoFailures) {
  Add("a", {.priority = 9});
  Fail(*Get());
  now_ = queue_.NextReady();
  Done(*Get());
  ASSERT_EQ(queue_.Items(), 0u);
  Add("b");
  const WorkItem* item = Get();
  EXPECT_EQ(item->request(), Req("b"));
  EXPECT_EQ(item->priority(), 0);
  EXPECT_EQ(item->failures(), 0);
  Fail(*item);
  EXPECT_EQ(queue_.NextReady(), now_ + 5 * kMs);
}

TEST_F(WorkQueueTest, Metrics) {
  const auto depth = [&](const char* priority) {
    return Gauge("workqueue_depth", {{"priority", priority}});
  };
  const auto histogram = [&](const char* name) {
    return metrics_.Histogram(name, "", labels_, DurationCounts::Bounds()).Collect().histogram;
  };

  Add("a");
  Add("a");
  Add("b", {.priority = kLowPriority});
  Add("c", {.after = 10 * kMs});
  UpdateMetrics(queue_);
  EXPECT_EQ(Counter("workqueue_adds_total"), 2);  // c counts when it is ready
  EXPECT_EQ(depth("0"), 1);
  EXPECT_EQ(depth("-100"), 1);

  now_ += 10 * kMs;
  const WorkItem* item = Get();
  now_ += absl::Seconds(2);
  UpdateMetrics(queue_);
  EXPECT_EQ(Counter("workqueue_adds_total"), 3);
  EXPECT_EQ(depth("0"), 1);
  EXPECT_EQ(Gauge("workqueue_unfinished_work_seconds"), 2);
  EXPECT_EQ(Gauge("workqueue_longest_running_processor_seconds"), 2);

  Fail(*item);
  UpdateMetrics(queue_);
  EXPECT_EQ(Counter("workqueue_retries_total"), 1);
  EXPECT_EQ(Gauge("workqueue_unfinished_work_seconds"), 0);
  const auto worked = histogram("workqueue_work_duration_seconds");
  EXPECT_EQ(worked.sample_count, 1u);
  EXPECT_DOUBLE_EQ(worked.sample_sum, 2);
  const auto queued = histogram("workqueue_queue_duration_seconds");
  EXPECT_EQ(queued.sample_count, 1u);
  EXPECT_DOUBLE_EQ(queued.sample_sum, 0.01);
}

}  // namespace
}  // namespace mandate
