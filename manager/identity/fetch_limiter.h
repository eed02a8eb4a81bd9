// A bound on concurrent token requests over all identities of a cluster.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "manager/core/metrics.h"

namespace mandate {

// Each may be null and outlives the limiter; slots may outlive both.
struct LimiterMetrics {
  prometheus::Gauge* in_flight = nullptr;
  prometheus::Gauge* waiting = nullptr;
  prometheus::Counter* had_to_wait = nullptr;
};

// A first-come, first-served queue for the slots in which tokens are requested. Each token source
// asks for one slot at a time, so that the number of sources bounds the queue. Loop thread only;
// slots may outlive it.
class FetchLimiter {
 public:
  // The right to have one request in flight. When it is dropped, the next in the queue gets it.
  using Slot = std::shared_ptr<const void>;
  using Granted = absl::AnyInvocable<void(Slot) &&>;

  explicit FetchLimiter(size_t max_in_flight, LimiterMetrics series = {});
  // Destroys the waiting callbacks without calling them.
  ~FetchLimiter();

  // Calls `granted` as soon as a slot is free, perhaps at once.
  void Acquire(Granted granted);

 private:
  struct State;
  static void Grant(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace mandate
