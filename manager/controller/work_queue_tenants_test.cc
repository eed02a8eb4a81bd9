// The limit of the requests of one namespace that are processed at once.
#include <gtest/gtest.h>

#include <string>

#include "manager/controller/testing/work_queue_fixture.h"

namespace mandate {
namespace {

// A tenant whose requests take long leaves workers to others.
class OccupiedNamespaceTest : public WorkQueueTest {
 protected:
  const WorkItem* Take() { return queue_.Get(now_); }
  void Put(const std::string& ns, const std::string& name, WorkQueue::AddOptions options = {}) {
    queue_.Add({{ns, name}}, options, now_);
  }
  void Finish(const WorkItem* item, const Outcome& outcome = {}) {
    queue_.Done(*item, outcome, now_);
  }
  static std::string Name(const WorkItem* item) {
    return item == nullptr ? "none" : item->request().key.name;
  }

  WorkQueue queue_{{.max_of_namespace = 2}};
};

TEST_F(OccupiedNamespaceTest, OthersOfItWaitUntilOneIsDone) {
  for (const char* name : {"a", "b", "c", "d"}) Put("slow", name);
  const WorkItem* a = Take();
  const WorkItem* b = Take();
  EXPECT_EQ(Name(Take()), "none") << "c waits";
  EXPECT_EQ(queue_.Len(now_), 0u) << "so that no worker is woken for it";
  EXPECT_EQ(queue_.Snapshot(10, now_).ready, 2u);
  EXPECT_EQ(queue_.Snapshot(10, now_).requests.size(), 4u);
  Put("quick", "q");
  Put("slow", "e", {.priority = 100});
  EXPECT_EQ(queue_.Len(now_), 1u);
  const WorkItem* q = Take();
  EXPECT_EQ(Name(q), "q") << "though e has a higher priority";
  Finish(q);
  EXPECT_EQ(Name(Take()), "none");
  // a was added again, and comes after those that waited.
  Put("slow", "a");
  Finish(a);
  EXPECT_EQ(Name(Take()), "e");
  Finish(b);
  const WorkItem* c = Take();
  EXPECT_EQ(Name(c), "c");
  Finish(c, {Outcome::Next::kRetry, {}});
  EXPECT_EQ(Name(Take()), "d");
}

TEST_F(OccupiedNamespaceTest, RequestsWithoutANamespaceAreNoTenants) {
  for (const char* name : {"a", "b", "c"}) Put("", name);
  Take();
  Take();
  EXPECT_EQ(Name(Take()), "c");
}

TEST_F(OccupiedNamespaceTest, AWaitingRequestMayGetAHigherPriority) {
  for (const char* name : {"a", "b", "c", "d"}) Put("slow", name);
  const WorkItem* a = Take();
  Take();
  Put("slow", "d", {.priority = 100});
  EXPECT_EQ(Name(Take()), "none");
  Finish(a);
  EXPECT_EQ(Name(Take()), "d");
}

TEST_F(OccupiedNamespaceTest, ItIsOccupiedAtEachPriority) {
  for (const char* name : {"u1", "u2", "u3"}) Put("slow", name, {.priority = 100});
  for (const char* name : {"a", "b"}) Put("slow", name);
  const WorkItem* first = Take();
  const WorkItem* second = Take();
  EXPECT_EQ(Name(Take()), "none");
  Finish(first);
  Finish(second);
  EXPECT_EQ(Name(Take()), "u3");
  EXPECT_EQ(Name(Take()), "a");
  EXPECT_EQ(Name(Take()), "none");
}

TEST_F(OccupiedNamespaceTest, ItComesAfterThoseThatHadATurnAllTheTime) {
  for (const char* name : {"a", "b", "c"}) Put("slow", name);
  const WorkItem* a = Take();
  Take();
  Put("quick", "q");
  Finish(a);
  EXPECT_EQ(Name(Take()), "q");
  EXPECT_EQ(Name(Take()), "c");
}

// Each fourth choice between priorities is for a lower one.
TEST_F(OccupiedNamespaceTest, APriorityThatHasToWaitIsNotAChoice) {
  for (const char* name : {"a", "b"}) Put("slow", name);
  Take();
  Take();
  Put("slow", "urgent", {.priority = 100});
  for (const char* name : {"q1", "q2", "q3", "q4"}) Put("quick", name);
  for (const char* name : {"q1", "q2", "q3"}) {
    const WorkItem* item = Take();
    EXPECT_EQ(Name(item), name);
    Finish(item);
  }
  Put("other", "high", {.priority = 100});
  EXPECT_EQ(Name(Take()), "high");
}

TEST_F(OccupiedNamespaceTest, ItsRequestsAreStillReported) {
  for (const char* name : {"a", "b", "c"}) Put("slow", name);
  Take();
  Take();
  EXPECT_EQ(queue_.Snapshot(10, now_).oldest_ready, now_);
  UpdateMetrics(queue_);
  EXPECT_EQ(Gauge("workqueue_depth", {{"priority", "0"}}), 1);
}

TEST_F(OccupiedNamespaceTest, ShutDownDropsWhatWaits) {
  for (const char* name : {"a", "b", "c"}) Put("slow", name);
  const WorkItem* a = Take();
  const WorkItem* b = Take();
  queue_.ShutDown();
  Finish(a);
  Finish(b);
  EXPECT_EQ(queue_.Items(), 0u);
}

}  // namespace
}  // namespace mandate
