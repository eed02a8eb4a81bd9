#include "manager/client/in_flight_limit_layer.h"

#include <string>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {

void InFlightLimitLayer::Send(const ClientCallPtr& call, Done done) {
  if (call->in_flight) return Start(call, std::move(done));
  if (in_flight_ >= options_.max_in_flight) {
    if (queued() >= options_.max_queued) {
      metrics_.CountLimitReached(ClientMetrics::Limit::kQueue);
      return std::move(done)(absl::ResourceExhaustedError(
          StrCat("component ", options_.identity->name(), " has ", options_.max_in_flight,
                 " requests in flight and ", options_.max_queued, " waiting")));
    }
    metrics_.CountLimitReached(ClientMetrics::Limit::kInFlight);
  }
  queue_.push_back({call, std::move(done)});
  StartQueued();
}

void InFlightLimitLayer::StartQueued() {
  while (in_flight_ < options_.max_in_flight) {
    const bool again = !postponed_.empty() &&
                       response_budget_->HasCapacityFor(postponed_.front().call->response_bytes);
    std::deque<Waiting>& queue = again ? postponed_ : queue_;
    if (queue.empty()) break;
    Waiting next = std::move(queue.front());
    queue.pop_front();
    next.call->in_flight = true;
    ++in_flight_;
    Start(next.call, std::move(next.done));
  }
  metrics_.Set(ClientMetrics::Gauge::kInFlight, in_flight_);
  metrics_.Set(ClientMetrics::Gauge::kQueued, queued());
}

void InFlightLimitLayer::Start(const ClientCallPtr& call, Done done) {
  if (call->request.body_sink == nullptr) {
    call->response = response_budget_->Begin(/*repeatable=*/call->request.method == "GET");
  }
  next_.Send(call,
             [this, call, done = std::move(done)](absl::StatusOr<HttpResponse> result) mutable {
               OnResult(call, std::move(done), std::move(result));
             });
}

void InFlightLimitLayer::OnResult(const ClientCallPtr& call, Done done,
                                  absl::StatusOr<HttpResponse> result) {
  const bool postponed = call->postponed();
  if (const auto response = std::exchange(call->response, nullptr)) {
    call->response_bytes = response->postponed_bytes();
    if (response->too_large()) metrics_.CountLimitReached(ClientMetrics::Limit::kResponse);
    std::string body = response->TakeBody();
    if (result.ok()) result->body = std::move(body);
  }
  if (postponed) {
    metrics_.CountLimitReached(ClientMetrics::Limit::kResponseBytes);
    call->in_flight = call->awaiting = false;
    --in_flight_;
    postponed_.push_back({call, std::move(done)});
  }
  // The bytes that had come are returned to the budget.
  StartQueued();
  if (!postponed) std::move(done)(std::move(result));
}

void InFlightLimitLayer::End(const ClientCallPtr& call) {
  if (call->response != nullptr) call->response->Abandon();
  if (call->in_flight) --in_flight_;
  for (std::deque<Waiting>* queue : {&queue_, &postponed_}) {
    std::erase_if(*queue, [&](const Waiting& waiting) { return waiting.call == call; });
  }
  StartQueued();
}

}  // namespace mandate
