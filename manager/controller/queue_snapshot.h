// The state of a work queue, for people.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "manager/controller/request.h"

namespace mandate {

// One request of a queue. Times are those of Clock::TimeNow().
struct QueuedRequest {
  enum class State {
    kInProgress,  // a worker has it
    kReady,       // it waits for a worker
    kDelayed,     // it waits for its time
  };
  Request request;
  State state = State::kReady;
  absl::Time time;  // since when; kDelayed: when it is due
  int priority = 0;
  int failures = 0;    // attempts that failed since the last success
  bool again = false;  // kInProgress: it was added again meanwhile
};

struct QueueSnapshot {
  size_t in_progress = 0;
  size_t ready = 0;
  size_t delayed = 0;  // also those in progress that come again at a later time
  size_t failing = 0;  // of all these, those whose last attempt failed
  // Since when a request has been ready that comes next: of each priority and namespace the first
  // one counts, and of these the oldest. Infinite future: none is ready.
  absl::Time oldest_ready = absl::InfiniteFuture();
  // Those in progress, the oldest first; then the ready ones, the highest priority first, in the
  // order in which their namespaces take turns; then the delayed ones by the time when they are
  // due. Not more than the caller asked for.
  std::vector<QueuedRequest> requests = {};
  bool omitted = false;  // there are more
};

}  // namespace mandate
