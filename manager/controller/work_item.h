// A request in a work queue, with all that the queue knows of it.
#ifndef MANAGER_CONTROLLER_WORK_ITEM_H_
#define MANAGER_CONTROLLER_WORK_ITEM_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "boost/intrusive/list.hpp"
#include "manager/controller/request.h"

namespace mandate {

// A request that WorkQueue::Get() handed out, valid until Done(). What is public is so for who has
// it; the rest is the queue's.
//
// Two lines of memory, of which the reconciler reads the first: a queue with a million of them is
// in no cache, and then each line and each page of memory that an item takes is what it costs.
class alignas(64) WorkItem {
 public:
  const Request& request() const { return request_; }
  // With which it was handed out; a requeue keeps it.
  int priority() const { return handed_priority_; }
  // Attempts that failed since the last that did not.
  int failures() const { return later_ == nullptr ? 0 : later_->failures; }

 private:
  friend class Inbox;
  friend class ItemPool;
  friend class ItemTable;
  friend class WorkItemPeer;  // tests
  friend class WorkQueue;

  enum class Place : uint8_t { kNowhere, kWaiting, kReady };
  using Due = std::pair<absl::Time, uint64_t>;
  // Only of those that wait, or failed.
  struct Later {
    Due due;  // kWaiting: its key there
    int failures = 0;
    absl::Time retry_at = absl::InfinitePast();    // of the last counted failure
    absl::Time not_before = absl::InfinitePast();  // the server's word
  };

  // Begins to fetch its memory from wherever it is, to be written.
  void Prefetch() const {
    const char* bytes = reinterpret_cast<const char*>(this);
#ifdef __x86_64__
    // The compiler's own fetches it to be read, and then the first write has to wait for the other
    // core once more.
    asm volatile("prefetchw %0\n\tprefetchw %1" : : "m"(bytes[0]), "m"(bytes[64]));
#else
    __builtin_prefetch(bytes, 1);
    __builtin_prefetch(bytes + 64, 1);
#endif
  }

  static uint32_t HashOf(const Request& request) {
    const uint64_t hash = absl::HashOf(request);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }

  Request request_;
  boost::intrusive::list_member_hook<> hook_;  // ready, or processing
  int64_t since_ = 0;    // kReady: since when, in ns of absl::ToUnixNanos(); absl::Time is larger
  int64_t started_ = 0;  // processing: since when
  std::unique_ptr<Later> later_;
  uint32_t hash_ = 0;
  uint32_t index_ = 0;  // in its pool
  int priority_ = 0;
  int handed_priority_ = 0;
  Place place_ = Place::kNowhere;
  bool processing_ = false;
};
static_assert(sizeof(WorkItem) == 128);

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_WORK_ITEM_H_
