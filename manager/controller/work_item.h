// A request in the hands of a worker.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "boost/intrusive/list.hpp"
#include "manager/controller/request.h"

namespace mandate {

// A request that WorkQueue::Get() handed out. It is valid until Done(). A worker may call its
// public functions; all else belongs to the queue.
class WorkItem {
 public:
  const Request& request() const { return *request_; }
  // The priority with which it was handed out; a requeue keeps it, unless the outcome has another.
  int priority() const { return handed_priority_; }
  // Attempts that failed since the last success.
  int failures() const { return failures_; }

 private:
  friend class ReadyLevel;
  friend class WorkQueue;

  enum class Place : uint8_t { kNowhere, kWaiting, kReady };
  using Due = std::pair<absl::Time, uint64_t>;
  using Hook = boost::intrusive::list_member_hook<>;

  const Request* request_ = nullptr;
  Hook hook_;  // in the ready or the processing list
  Place place_ = Place::kNowhere;
  bool processing_ = false;
  int priority_ = 0;
  int handed_priority_ = 0;
  int failures_ = 0;
  int64_t since_ = 0;                           // kReady: since when, in ns of absl::ToUnixNanos()
  int64_t started_ = 0;                         // processing: since when
  Due due_;                                     // kWaiting: its key among the waiting
  absl::Time retry_at_ = absl::InfinitePast();  // after the last counted failure
  absl::Time not_before_ = absl::InfinitePast();  // the earliest retry that the server allows

 public:
  using List =
      boost::intrusive::list<WorkItem,
                             boost::intrusive::member_hook<WorkItem, Hook, &WorkItem::hook_>>;
};

}  // namespace mandate
