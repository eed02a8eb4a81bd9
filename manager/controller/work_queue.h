// The queue between the events that ask for a reconciliation and the workers that do it.
//
//   queue.Add({key}, {}, now);
//   const WorkItem* item = queue.Get(now);
//   while (item != nullptr) {
//     const Outcome outcome = … reconcile item->request() …
//     item = queue.DoneAndGet(*item, outcome, now);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/time/time.h"
#include "manager/controller/queue_metrics.h"
#include "manager/controller/queue_snapshot.h"
#include "manager/controller/rate_limiter.h"
#include "manager/controller/ready_level.h"
#include "manager/controller/request.h"
#include "manager/controller/work_item.h"
#include "manager/core/adaptive_mutex.h"

namespace mandate {

// A set of requests, each of which is handed out to one worker at a time: a request that is added
// again while it is being processed is handed out again after Done(), once. Among the ready
// requests the highest priority goes first. But each fourth time that several priorities are ready,
// one of the lower ones goes first, and these take turns: a flood of urgent requests does not hold
// up the others without end. Within a priority namespaces take turns, and of a namespace the
// request goes first that became ready first: a tenant with many requests delays another by one of
// them for each of the other's, or by none, while Options::max_of_namespace leaves a worker. The
// queue wakes no worker:
// the caller of Add() decides whether a worker is needed (Len()), and calls Get() again at
// NextReady().
//
// Time is a parameter: Clock::TimeNow(), never going back. Thread-safe.
class WorkQueue {
 public:
  struct Options {
    // The delay of the first retry, doubled with each further one.
    absl::Duration base_delay = absl::Milliseconds(5);
    absl::Duration max_delay = absl::Seconds(1000);
    // Decides instead of base_delay (rate_limiter.h); max_delay is still the limit. For this queue
    // alone.
    std::shared_ptr<RateLimiter> rate_limiter = nullptr;
    // How many requests of one namespace are processed at once; the others of it wait. Less than
    // the number of workers: a tenant whose requests take long leaves workers to others. Not for
    // requests without a namespace. 0: any number.
    size_t max_of_namespace = 0;
    // The most distinct requests that are held, in whatever state.
    size_t max_items = 1'000'000;
  };
  struct AddOptions {
    int priority = kDefaultPriority;
    // Ready only after this long; never delays a request that would be ready earlier.
    absl::Duration after = absl::ZeroDuration();
  };

  explicit WorkQueue(Options options);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // A request that is queued already keeps the higher priority and the earlier time. Returns false
  // if the queue is full and does not have the request. After ShutDown() it does nothing and
  // returns true.
  bool Add(const Request& request, AddOptions options, absl::Time now);

  // Makes every failed request that waits for its retry ready, unless the server asked it to wait
  // longer: the reason for the failure may be gone. This does not shorten the delays: an attempt
  // that fails again waits as it would have.
  void RetryNow(absl::Time now);

  // The next ready request, or nullptr. The worker must give it back with Done().
  const WorkItem* Get(absl::Time now);

  // Gives the item back. It is handed out again as `outcome` says, or sooner if it was or is added:
  //   kNothing       not again; the next failure waits the base delay
  //   kRequeueAfter  after `after`; the next failure waits the base delay
  //   kRetry         after the rate limiter's delay, and not before `after`; both at most max_delay
  // Only a failure at or after the time of the last retry counts: an attempt that an event brought
  // forward does not make the delay longer when it fails, and the retry keeps its time.
  void Done(const WorkItem& item, const Outcome& outcome, absl::Time now);
  // Done() and then Get(), for a worker that continues.
  const WorkItem* DoneAndGet(const WorkItem& item, const Outcome& outcome, absl::Time now);

  // When the first waiting request becomes ready; infinite future if none waits.
  absl::Time NextReady() const;
  // The number of ready requests, without those that wait for others of their namespace; Get() may
  // hand out fewer of a namespace.
  size_t Len(absl::Time now);
  // The number of requests that are held: ready, waiting, or being processed.
  size_t Items() const;

  // The counts, and `most` of the requests. Its time is that of copying these, and of a look at
  // each namespace with a ready one.
  QueueSnapshot Snapshot(size_t most, absl::Time now);

  // Drops the queued requests. From now on Add() does nothing and Get() returns nullptr.
  void ShutDown();

  // Moves the counts since the last call to `metrics`, and frees the memory of a peak once the
  // queue is empty.
  void UpdateMetrics(QueueMetrics& metrics, absl::Time now);

 private:
  WorkItem* Next(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  WorkItem* TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(WorkItem& item, const Outcome& outcome, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Time RetryTime(WorkItem& item, absl::Duration after, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enqueue(WorkItem& item, int priority, absl::Time ready_at, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeReady(WorkItem& item, absl::Time since) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PushReady(WorkItem& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveFromReady(WorkItem& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A request of this namespace is processed now; is done.
  void Occupy(const std::string& ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Vacate(const std::string& ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsFull(const std::string& ns) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the waiting requests whose time has come ready.
  void Promote(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;

  mutable AdaptiveMutex mutex_;
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  absl::node_hash_map<Request, WorkItem> items_ ABSL_GUARDED_BY(mutex_);  // those that are held
  // By priority; no level is empty.
  std::map<int, ReadyLevel, std::greater<int>> ready_ ABSL_GUARDED_BY(mutex_);
  size_t ready_count_ ABSL_GUARDED_BY(mutex_) = 0;  // of all priorities
  size_t failing_ ABSL_GUARDED_BY(mutex_) = 0;      // those with failures
  size_t choices_ ABSL_GUARDED_BY(mutex_) = 0;      // between several priorities
  absl::btree_map<WorkItem::Due, WorkItem*> waiting_ ABSL_GUARDED_BY(mutex_);
  WorkItem::List processing_ ABSL_GUARDED_BY(mutex_);
  // How many of these each namespace has, if their number is limited.
  absl::flat_hash_map<std::string, size_t> occupied_ ABSL_GUARDED_BY(mutex_);
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  QueueCounts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
