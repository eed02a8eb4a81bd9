// The parts and the bounds of a component's client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/guard.h"
#include "manager/client/response_budget.h"
#include "manager/core/backoff.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/identity/identity.h"
#include "manager/rbac/mandate.h"
#include "manager/transport/transport.h"

namespace mandate {

struct ClientOptions {
  absl::Time Now() const { return loop->clock().TimeNow(); }

  Loop* loop = nullptr;
  Transport* transport = nullptr;
  const Identity* identity = nullptr;      // the three outlive the client
  const rbac::Mandate* mandate = nullptr;  // of the same component; a constant of the program
  GuardMode guard = GuardMode::kEnforce;
  absl::Duration default_timeout = absl::Minutes(1);  // of contexts without a deadline
  absl::Duration token_timeout = absl::Seconds(30);   // how long a watch waits for a token
  int max_attempts = 5;  // of requests that may be sent again (retry_policy.h)
  Backoff::Options backoff{.initial = absl::Milliseconds(200), .max = absl::Seconds(5)};
  // A longer Retry-After than this goes to the caller with the error, at once: a call that waits
  // holds one of max_in_flight.
  absl::Duration max_retry_after = absl::Seconds(30);
  size_t max_in_flight = 64;  // more calls wait their turn
  size_t max_queued = 10'000;
  // Also of logs. This is more than the cache has open and is closing (Cache::Options::max_watches,
  // WatchCloser): the cache decides which of its watches end.
  size_t max_watches = 16'000;
  size_t max_error_body = 64 << 10;  // of a watch that is rejected
  // The bound of all responses that are being received: a call whose response exceeds it waits for
  // its turn. Answers that go to the caller's own sink do not count.
  ResponseBudget::Options response_budget = {};
  size_t max_warnings_remembered = 1000;
  uint64_t seed = 0;           // of the jitter
  Metrics* metrics = nullptr;  // may be null; outlives the client
  // A line for each attempt of a call, with -v=5.
  Logger log = {};
  // The text of each Warning header that was not reported before, on the loop.
  std::function<void(std::string_view)> on_warning = {};
  // Gets the rejections that GuardMode::kWarn does not enforce. Called on any thread.
  std::function<void(const absl::Status&)> on_undeclared = {};
  // The server has answered 403 to a request for which Guard::DenialMeansMissingGrant() is true.
  // Called on the loop.
  std::function<void()> on_forbidden = {};
  // The server has accepted a write of a Role or a RoleBinding in this namespace, so that access
  // may have changed. Called on the loop.
  std::function<void(std::string_view ns)> on_rbac_write = {};
};

}  // namespace mandate
