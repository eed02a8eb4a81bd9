// What a queue shows of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/testing/work_queue_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WorkQueueSnapshotTest : public WorkQueueTest {
 protected:
  // "a ready 5ms", with the distance between its time and now.
  std::vector<std::string> Requests(size_t most = 100) {
    std::vector<std::string> lines;
    for (const QueuedRequest& item : queue_.Snapshot(most, now_).requests) {
      constexpr const char* kStates[] = {"in progress", "ready", "delayed"};
      lines.push_back(StrCat(item.request.key.name, " ", kStates[static_cast<int>(item.state)], " ",
                             absl::ToInt64Milliseconds(item.time - now_), "ms",
                             item.again ? " again" : "",
                             item.priority == 0 ? "" : StrCat(" priority ", item.priority),
                             item.failures == 0 ? "" : StrCat(" failures ", item.failures)));
    }
    return lines;
  }
  // "in progress, ready, delayed, failing".
  std::string Counts() {
    const QueueSnapshot snapshot = queue_.Snapshot(0, now_);
    EXPECT_THAT(snapshot.requests, IsEmpty());
    return StrCat(snapshot.in_progress, " ", snapshot.ready, " ", snapshot.delayed, " ",
                  snapshot.failing);
  }
};

TEST_F(WorkQueueSnapshotTest, ShowsWhereEachRequestIs) {
  EXPECT_EQ(Counts(), "0 0 0 0");
  EXPECT_EQ(queue_.Snapshot(1, now_).oldest_ready, absl::InfiniteFuture());
  const WorkItem* failing = AddAndGet("failing");
  Fail(*failing);
  const WorkItem* first = AddAndGet("first");
  now_ += kMs;
  AddAndGet("second", {.priority = 7, .after = {}});
  Add("first");
  now_ += kMs;
  Add("low", {.priority = kLowPriority, .after = {}});
  Add("later", {.priority = 0, .after = absl::Seconds(1)});
  now_ += kMs;
  Add("zero-1");
  Add("zero-2");
  EXPECT_THAT(Requests(),
              ElementsAre("first in progress -3ms again", "second in progress -2ms priority 7",
                          "zero-1 ready 0ms", "zero-2 ready 0ms", "low ready -1ms priority -100",
                          "failing delayed 2ms failures 1", "later delayed 999ms"));
  EXPECT_EQ(Counts(), "2 3 2 1");
  EXPECT_EQ(queue_.Snapshot(0, now_).oldest_ready, now_ - kMs);
  now_ += 2 * kMs;
  EXPECT_EQ(Counts(), "2 4 1 1") << "the retry is due";
  Done(*first);
  EXPECT_EQ(Counts(), "1 5 1 1") << "it was added again";
}

TEST_F(WorkQueueSnapshotTest, ShowsReadyRequestsInTheOrderInWhichTheyCome) {
  for (const char* name : {"l1", "l2", "l3", "l4"}) queue_.Add({{"large", name}}, {}, now_);
  now_ += kMs;
  queue_.Add({{"small", "s1"}}, {}, now_);
  queue_.Add({{"small", "s2"}}, {}, now_);
  queue_.Add({{"other", "o1"}}, {}, now_);
  std::vector<std::string> shown;
  for (const QueuedRequest& item : queue_.Snapshot(100, now_).requests) {
    shown.push_back(item.request.key.name);
  }
  EXPECT_THAT(shown, ElementsAre("l1", "s1", "o1", "l2", "s2", "l3", "l4"));
  EXPECT_EQ(queue_.Snapshot(3, now_).requests.size(), 3u);
  EXPECT_EQ(queue_.Snapshot(0, now_).oldest_ready, now_ - kMs);
  EXPECT_EQ(Drain(), shown);
}

TEST_F(WorkQueueSnapshotTest, HasNotMoreRequestsThanAskedFor) {
  AddAndGet("a");
  Add("b");
  Add("c", {.priority = 0, .after = kMs});
  for (size_t most = 0; most <= 3; ++most) {
    EXPECT_EQ(Requests(most).size(), most);
    EXPECT_EQ(queue_.Snapshot(most, now_).omitted, most < 3);
  }
  EXPECT_EQ(Requests(4).size(), 3u);
}

TEST_F(WorkQueueSnapshotTest, ARequestInProgressThatComesAgainLaterIsShownOnce) {
  const WorkItem* item = AddAndGet("a");
  Add("a", {.priority = 0, .after = kMs});
  EXPECT_THAT(Requests(), ElementsAre("a in progress 0ms again"));
  EXPECT_FALSE(queue_.Snapshot(100, now_).omitted);
  Done(*item);
  EXPECT_THAT(Requests(), ElementsAre("a delayed 1ms"));
}

TEST_F(WorkQueueSnapshotTest, ASuccessEndsAFailure) {
  Add("a");
  FailAndWait();
  FailAndWait();
  EXPECT_EQ(Counts(), "0 1 0 1");
  const WorkItem* item = Get();
  EXPECT_EQ(Counts(), "1 0 0 1");
  Done(*item);
  EXPECT_EQ(Counts(), "0 0 0 0");
}

TEST_F(WorkQueueSnapshotTest, AShutDownLeavesWhatIsInProgress) {
  Fail(*AddAndGet("a"));
  Fail(*AddAndGet("b"));
  now_ = queue_.NextReady();
  const WorkItem* item = Get();
  EXPECT_EQ(Counts(), "1 1 0 2");
  queue_.ShutDown();
  EXPECT_EQ(Counts(), "1 0 0 1");
  Done(*item);
  EXPECT_EQ(Counts(), "0 0 0 0");
}

TEST_F(WorkQueueSnapshotTest, TheOldestReadyRequestIsInAnyNamespace) {
  queue_.Add({{"a", "1"}}, {}, now_);
  queue_.Add({{"b", "1"}}, {}, now_);
  queue_.Add({{"b", "2"}}, {}, now_);
  now_ += kMs;
  queue_.Add({{"a", "2"}}, {}, now_);
  Done(*Get());
  Done(*Get());
  EXPECT_EQ(queue_.Snapshot(1, now_).requests.front().request.key.ns, "a");
  EXPECT_EQ(queue_.Snapshot(0, now_).oldest_ready, now_ - kMs) << "b's, whose turn is later";
}

}  // namespace
}  // namespace mandate
