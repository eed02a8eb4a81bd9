// The first parameter of each function that can wait: its deadline, a token to cancel it, and the
// log and the trace of what it is part of.
#pragma once

#include <algorithm>
#include <stop_token>

#include "absl/time/time.h"
#include "manager/core/log.h"
#include "manager/core/trace.h"

namespace mandate {

// Makes the logger of a piece of work when it is first used. Thread-safe.
class WorkLog {
 public:
  virtual ~WorkLog() = default;
  virtual Logger logger() const = 0;
};

// A value; copies are independent but watch the same stop source.
struct CallContext {
  // In Clock::TimeNow()'s time.
  absl::Time deadline = absl::InfiniteFuture();
  std::stop_token stop = {};
  // Null: no logs. Valid while the work runs: a copy of the context that lives longer must not log.
  const WorkLog* work_log = nullptr;
  // The span that requests of this work are children of.
  TraceContext trace = {};

  // A child may shorten the deadline, never extend it.
  CallContext WithDeadline(absl::Time other) const {
    return {std::min(deadline, other), stop, work_log, trace};
  }

  // In a reconcile: its lines name the component, the controller, the object and the reconcileID,
  // as the controller's own lines about the reconcile do.
  Logger log() const { return work_log == nullptr ? Logger() : work_log->logger(); }
};

}  // namespace mandate
