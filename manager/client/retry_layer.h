// Sends the calls of a component's client until they succeed or must not be sent again.
#pragma once

#include <random>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/client_call.h"
#include "manager/client/client_metrics.h"
#include "manager/client/client_options.h"

namespace mandate {

// Each call ends within its context, whatever the layers below do, and its error has a mark if
// the server certainly did not act on the request (MarkNotSent()) or may have acted
// (MarkOutcomeUnknown()). retry_policy.h defines which errors are retried. Loop thread only.
class RetryLayer {
 public:
  // The three outlive this.
  RetryLayer(const ClientOptions& options, ClientMetrics& metrics, CallLayer& next)
      : options_(options), metrics_(metrics), next_(next), random_(options.seed) {}
  // Open calls end with kCancelled, later on the loop.
  ~RetryLayer();

  void Begin(const ClientCallPtr& call);

 private:
  void Attempt(const ClientCallPtr& call);
  void OnResult(const ClientCallPtr& call, absl::StatusOr<HttpResponse> result);
  bool RetryLater(const ClientCallPtr& call, const absl::Status& error);
  // A call has one timer: its next attempt's or its deadline's.
  void WaitUntil(const ClientCallPtr& call, absl::Time when,
                 void (RetryLayer::*then)(const ClientCallPtr&));
  void OnDeadline(const ClientCallPtr& call);
  void Cancel(const ClientCallPtr& call);
  void Finish(ClientCallPtr call, absl::StatusOr<HttpResponse> result);

  const ClientOptions& options_;
  ClientMetrics& metrics_;
  CallLayer& next_;
  std::mt19937_64 random_;
  std::set<ClientCallPtr> calls_;
};

}  // namespace mandate
