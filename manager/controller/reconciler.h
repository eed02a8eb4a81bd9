// The code that a controller runs for each request.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/controller/request.h"
#include "manager/core/call_context.h"

namespace mandate {

struct Result {
  // Above zero: reconcile again after this long, if nothing happens before.
  absl::Duration requeue_after = absl::ZeroDuration();
  // The priority of that reconcile; absent: that of the request (request.h).
  std::optional<int> priority = std::nullopt;
};

// Implementations are thread-safe: different requests are reconciled in parallel, one request
// never.
class Reconciler {
 public:
  virtual ~Reconciler() = default;

  // Brings the cluster closer to the object's spec. Runs on a pool's thread and may block within
  // `context`. An absent object is not an error. An error is retried after a growing delay, unless
  // it is a TerminalError. An exception is caught, counted, and retried as an error.
  virtual absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) = 0;
};

// The same error, marked as one that a retry cannot fix: it is reported, and the request is
// reconciled again only when something changes. OK stays OK.
absl::Status TerminalError(absl::Status status);
bool IsTerminal(const absl::Status& status);

}  // namespace mandate
