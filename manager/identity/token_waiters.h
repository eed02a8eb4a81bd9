// The callers that wait for one token, each within its own context.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/kubeconfig/token.h"

namespace mandate {

// Each may be null and outlives the waiters that it counts.
struct WaiterMetrics {
  prometheus::Gauge* waiting = nullptr;
  prometheus::Counter* rejected = nullptr;
};

// Loop thread only.
class TokenWaiters {
 public:
  // Callers beyond `max` get kResourceExhausted. `loop` outlives this.
  TokenWaiters(Loop& loop, std::string subject, size_t max, WaiterMetrics series = {});
  // Callers that still wait get kCancelled, later on the loop.
  ~TokenWaiters();

  // `done` runs on the loop once, never inside a call of this class: at Complete(), or with
  // kDeadlineExceeded or kCancelled at the end of `context`.
  void Add(const CallContext& context, TokenSource::Callback done);
  void Complete(const absl::StatusOr<std::shared_ptr<const Token>>& result);

  // The reason why there is no token yet, for callers whose time is over.
  void SetReason(absl::Status reason);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mandate
