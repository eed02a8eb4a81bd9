// The queue between what happened and who reconciles it.
//
//   queue.Add({key}, {}, now);
//   const WorkItem* item = queue.Get(now);
//   while (item != nullptr) {
//     const Outcome outcome = … reconcile item->request() …
//     item = queue.DoneAndGet(*item, outcome, now);
//   }
#ifndef MANAGER_CONTROLLER_WORK_QUEUE_H_
#define MANAGER_CONTROLLER_WORK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "boost/intrusive/list.hpp"
#include "manager/controller/inbox.h"
#include "manager/controller/item_pool.h"
#include "manager/controller/item_table.h"
#include "manager/controller/outcome.h"
#include "manager/controller/queue_metrics.h"
#include "manager/controller/request.h"
#include "manager/controller/work_item.h"
#include "manager/core/brief_mutex.h"

namespace mandate {

inline constexpr int kDefaultPriority = 0;
// Initial lists and resyncs: news goes first.
inline constexpr int kLowPriority = -100;

// A set of requests, handed out one at a time each: a request that is added again while it is being
// processed is handed out again after Done(), once. Among the ready the highest priority goes
// first, then who became ready first. Passive: who adds looks whether a worker is wanted (Len()),
// and calls Get() again at NextReady().
//
// Time is a parameter: Clock::TimeNow(), never going back. Thread-safe.
class WorkQueue {
 public:
  struct Options {
    // The delay of the first retry, doubled with each further one.
    absl::Duration base_delay = absl::Milliseconds(5);
    absl::Duration max_delay = absl::Seconds(1000);
    // Distinct requests that are held, whatever their state; beyond, Add() refuses.
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

  // A request that is queued already keeps the higher priority and the earlier time. False:
  // refused, because the queue is full; it is true (and nothing) after ShutDown().
  bool Add(const Request& request, AddOptions options, absl::Time now);

  // Makes every failed request that waits for its retry ready, unless the server asked it to wait
  // longer: the reason why it failed may be gone. Their delays are not shortened by it: an attempt
  // that fails again waits as it would have.
  void RetryNow(absl::Time now);

  // The next ready request; nullptr: none is ready. It must be given back.
  const WorkItem* Get(absl::Time now);

  // Gives it back, to be handed out again as `outcome` says, or sooner if it was or is added:
  // kNothing ends its failures, so that the next one waits the base delay again; kRequeueAfter too,
  // and it is ready again after `after`; kRetry: after an exponential delay, and after `after`, up
  // to max_delay. Only a failure at or after the time of the last retry counts: attempts that an
  // event brought forward fail without making the delay longer, and the retry keeps its time.
  void Done(const WorkItem& item, const Outcome& outcome, absl::Time now);
  // The same, and then Get(): a worker that goes on.
  const WorkItem* DoneAndGet(const WorkItem& item, const Outcome& outcome, absl::Time now);

  // When a waiting request becomes ready; infinite future: none waits.
  absl::Time NextReady() const;
  // How many Get() would hand out now, had it been called with the same `now`.
  size_t Len(absl::Time now);
  // All that are held: ready, waiting, processing, or remembered for their failures.
  size_t Items();
  // What its items take, those in use and the spare ones. The memory of a peak goes back with
  // UpdateMetrics(), once nothing is held.
  size_t MemoryBytes() const;

  // Drops what waits; Add() does nothing and Get() gives nothing from now on.
  void ShutDown();

  // Moves what was counted since the last call to `metrics`.
  void UpdateMetrics(QueueMetrics& metrics, absl::Time now);

 private:
  using ItemList = boost::intrusive::list<
      WorkItem, boost::intrusive::member_hook<WorkItem, boost::intrusive::list_member_hook<>,
                                              &WorkItem::hook_>>;
  // Takes the inbox in, and gives it room, but leaves `reserved` items free if there are.
  void Drain(size_t reserved) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same, with so many, which are free.
  void TakeIn(size_t room) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveMemoryBack() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  WorkItem* Next(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(WorkItem& item, const Outcome& outcome, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Time RetryTime(WorkItem& item, absl::Duration after, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enqueue(WorkItem& item, int priority, absl::Time ready_at, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeReady(WorkItem& item, absl::Time since) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Promote(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetNoFailures(WorkItem& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release(WorkItem& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;

  Inbox inbox_;
  // On another line than the inbox: those who add do not touch it.
  alignas(64) mutable BriefMutex mutex_;
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  ItemPool pool_ ABSL_GUARDED_BY(mutex_);
  ItemTable table_ ABSL_GUARDED_BY(mutex_);  // those that are held
  std::map<int, ItemList, std::greater<int>> ready_ ABSL_GUARDED_BY(mutex_);
  ItemList processing_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkItem*> drained_ ABSL_GUARDED_BY(mutex_);  // kept for its memory
  size_t brought_ ABSL_GUARDED_BY(mutex_) = 0;              // by the inbox, last
  size_t ready_count_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::btree_map<WorkItem::Due, WorkItem*> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  QueueCounts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_WORK_QUEUE_H_
