// Bounds the calls and the responses of a component's client.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "absl/status/statusor.h"
#include "manager/client/client_call.h"
#include "manager/client/client_metrics.h"
#include "manager/client/client_options.h"
#include "manager/client/response_budget.h"

namespace mandate {

// A call waits for a place before its first attempt, and keeps it until End(). A call whose
// response exceeds the budget leaves its place, and its attempt is repeated when there is room.
// Loop thread only.
class InFlightLimitLayer : public CallLayer {
 public:
  // The three outlive this.
  InFlightLimitLayer(const ClientOptions& options, ClientMetrics& metrics, CallLayer& next)
      : options_(options),
        metrics_(metrics),
        next_(next),
        response_budget_(
            ResponseBudget::Create(options.response_budget, metrics.response_bytes())) {}
  ~InFlightLimitLayer() override { response_budget_->DropGauge(); }

  // kResourceExhausted when too many calls wait.
  void Send(const ClientCallPtr& call, Done done) override;
  void End(const ClientCallPtr& call) override;

 private:
  struct Waiting {
    ClientCallPtr call;
    Done done;
  };

  size_t queued() const { return queue_.size() + postponed_.size(); }
  void StartQueued();
  void Start(const ClientCallPtr& call, Done done);
  void OnResult(const ClientCallPtr& call, Done done, absl::StatusOr<HttpResponse> result);

  const ClientOptions& options_;
  ClientMetrics& metrics_;
  CallLayer& next_;
  std::deque<Waiting> queue_;
  std::deque<Waiting> postponed_;
  size_t in_flight_ = 0;
  const std::shared_ptr<ResponseBudget> response_budget_;
};

}  // namespace mandate
