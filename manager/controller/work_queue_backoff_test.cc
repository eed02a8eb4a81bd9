// The time at which the queue hands out a request again that failed or asked for a later time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "manager/controller/testing/work_queue_fixture.h"

namespace mandate {
namespace {

using WorkQueueBackoffTest = WorkQueueTest;

TEST_F(WorkQueueBackoffTest, RetriesBackOffExponentiallyUpToTheMaximum) {
  Add("a");
  absl::Duration expected = 5 * kMs;
  for (int failure = 0; failure < 80; ++failure) {
    const WorkItem* item = Get();
    ASSERT_NE(item, nullptr) << failure;
    EXPECT_EQ(item->failures(), failure);
    Fail(*item);
    ASSERT_EQ(queue_.NextReady(), now_ + expected) << failure;
    now_ = queue_.NextReady();
    expected = std::min(expected * 2, absl::Seconds(1000));
  }
}

TEST_F(WorkQueueBackoffTest, ARateLimiterDecidesUpToTheMaximum) {
  WorkQueue queue(
      {.max_delay = absl::Seconds(20), .rate_limiter = FastSlowLimiter(kMs, absl::Seconds(30), 1)});
  queue.Add(Req("a"), {}, now_);
  queue.Done(*queue.Get(now_), {Outcome::Next::kRetry, {}}, now_);
  EXPECT_EQ(queue.NextReady(), now_ + kMs);
  now_ = queue.NextReady();
  queue.Done(*queue.Get(now_), {Outcome::Next::kRetry, {}}, now_);
  EXPECT_EQ(queue.NextReady(), now_ + absl::Seconds(20));
}

TEST_F(WorkQueueBackoffTest, ARetryWaitsAtLeastAsLongAsItIsAskedTo) {
  Fail(*AddAndGet("a"), absl::Seconds(7));
  EXPECT_EQ(queue_.NextReady(), now_ + absl::Seconds(7));
  // The requested wait is shorter than the backoff, so the backoff counts.
  now_ = queue_.NextReady();
  Fail(*Get(), kMs);
  EXPECT_EQ(queue_.NextReady(), now_ + 10 * kMs);
  // The requested wait is longer than any backoff.
  now_ = queue_.NextReady();
  Fail(*Get(), absl::Hours(24));
  EXPECT_EQ(queue_.NextReady(), now_ + absl::Seconds(1000));
}

TEST_F(WorkQueueBackoffTest, RetryNowAndEventsAfterTheServerAskedToWait) {
  Fail(*AddAndGet("a"), absl::Seconds(7));
  queue_.RetryNow(now_);
  EXPECT_EQ(Get(), nullptr);
  // A new event may be a revocation, so it is handled at once. A failure before the retry's time
  // does not delay the retry.
  const WorkItem* item = AddAndGet("a");
  const absl::Time retry = now_ + absl::Seconds(7);
  now_ += absl::Seconds(1);
  Fail(*item);
  EXPECT_EQ(queue_.NextReady(), retry);
  now_ = retry;
  item = Get();
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->failures(), 1);
  Done(*item);
}

TEST_F(WorkQueueBackoffTest, ASuccessForgetsThatTheServerAskedToWait) {
  Fail(*AddAndGet("a"), absl::Seconds(7));
  const WorkItem* item = AddAndGet("a");
  Add("a");  // so that it stays
  Done(*item);
  Fail(*Get());
  queue_.RetryNow(now_);
  EXPECT_NE(Get(), nullptr);
}

TEST_F(WorkQueueBackoffTest, ASuccessStartsTheBackoffAnew) {
  for (const Outcome& success : {Outcome{}, Outcome{Outcome::Next::kRequeueAfter, kMs}}) {
    Add("a");
    for (int i = 0; i < 5; ++i) FailAndWait();
    const WorkItem* item = Get();
    Add("a");  // so that it stays
    Done(*item, success);
    item = Get();
    EXPECT_EQ(item->failures(), 0);
    Fail(*item);
    EXPECT_EQ(queue_.NextReady(), now_ + 5 * kMs);
    now_ = queue_.NextReady();
    Drain();
  }
}

TEST_F(WorkQueueBackoffTest, ARequeueWaitsItsTime) {
  Done(*AddAndGet("a", {.priority = 3}), {Outcome::Next::kRequeueAfter, 10 * kMs});
  EXPECT_EQ(queue_.NextReady(), now_ + 10 * kMs);
  EXPECT_EQ(Get(), nullptr);
  now_ += 10 * kMs;
  const WorkItem* item = Get();
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->priority(), 3);
  Done(*item, {Outcome::Next::kRequeueAfter, kMs, /*priority=*/-7});
  now_ += kMs;
  item = Get();
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->priority(), -7);
  Done(*item);
  EXPECT_EQ(queue_.Items(), 0u);
}

TEST_F(WorkQueueBackoffTest, BackoffIsPerKey) {
  Add("a");
  for (int i = 0; i < 5; ++i) FailAndWait();
  EXPECT_EQ(Drain(), Names{"a"});
  Add("b");
  Fail(*Get());
  EXPECT_EQ(queue_.NextReady(), now_ + 5 * kMs);
}

// kubernetes/kubernetes#132805: each failure of an attempt that an event brought forward doubled
// the delay.
TEST_F(WorkQueueBackoffTest, EventsCannotInflateTheBackoff) {
  Add("a");
  for (int i = 0; i < 8; ++i) FailAndWait();
  Fail(*Get());  // waits 5 ms * 2^8
  const absl::Time retry = queue_.NextReady();
  ASSERT_EQ(retry, now_ + 1280 * kMs);
  for (int event = 0; event < 100; ++event) {
    now_ += kMs;
    const WorkItem* item = AddAndGet("a");  // tried at once
    EXPECT_EQ(item->failures(), 9);
    Fail(*item);
    ASSERT_EQ(queue_.NextReady(), retry);  // neither longer nor shorter
  }
  now_ = retry;
  Fail(*Get());
  EXPECT_EQ(queue_.NextReady(), now_ + 2560 * kMs);
}

TEST_F(WorkQueueBackoffTest, EventsDuringProcessingCannotInflateTheBackoff) {
  Add("a");
  for (int round = 0; round < 50; ++round) {
    const WorkItem* item = Get();
    ASSERT_NE(item, nullptr);
    Add("a");  // news while it fails: tried again at once
    Fail(*item);
    EXPECT_EQ(Len(), 1u);
  }
  EXPECT_EQ(Get()->failures(), 1);
}

TEST_F(WorkQueueBackoffTest, ASuccessfulEarlyAttemptEndsTheBackoff) {
  Fail(*AddAndGet("a"));
  Add("a");
  Done(*Get());
  EXPECT_EQ(queue_.NextReady(), absl::InfiniteFuture());
  EXPECT_EQ(queue_.Items(), 0u);
}

TEST_F(WorkQueueBackoffTest, RetryNowConcernsFailedRequests) {
  Add("requeued", {.after = absl::Hours(1)});
  for (const char* name : {"a", "b", "held"}) Add(name);
  for (int i = 0; i < 3; ++i) Fail(*Get());
  Add("held");
  const WorkItem* held = Get();
  Add("held", {.after = absl::Hours(1)});
  const absl::Time retry = queue_.NextReady();
  now_ += kMs;
  queue_.RetryNow(now_);
  EXPECT_EQ(Len(), 2u);
  const WorkItem* a = Get();
  EXPECT_EQ(a->request(), Req("a"));
  EXPECT_EQ(a->failures(), 1);
  Fail(*a);
  EXPECT_EQ(queue_.NextReady(), retry);  // as if nothing had been
  Done(*held);
  EXPECT_EQ(Drain(), (Names{"b", "held"}));
}

TEST_F(WorkQueueBackoffTest, AnEarlierAddAfterBeatsTheRetry) {
  const WorkItem* item = AddAndGet("a");
  Add("a", {.after = kMs});
  Fail(*item);
  EXPECT_EQ(queue_.NextReady(), now_ + kMs);
}

TEST_F(WorkQueueBackoffTest, ARetryKeepsThePriorityWhateverIsAddedMeanwhile) {
  const WorkItem* item = AddAndGet("a", {.priority = 42});
  Add("a", {.after = absl::Hours(1)});
  Fail(*item);
  now_ = queue_.NextReady();
  EXPECT_EQ(Get()->priority(), 42);
}

TEST_F(WorkQueueBackoffTest, ARequeueKeepsThePriority) {
  Add("a", {.priority = 42});
  FailAndWait();
  EXPECT_EQ(Get()->priority(), 42);
}

}  // namespace
}  // namespace mandate
