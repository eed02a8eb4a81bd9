// One call of a component's client, and the layers that it passes: retry, in-flight limit, auth.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "manager/client/response_budget.h"
#include "manager/client/rest_client.h"
#include "manager/core/backoff.h"
#include "manager/core/pending.h"

namespace mandate {

// One RestClient::Send() until its `done` ran. Loop thread only.
struct ClientCall {
  ClientCall(const CallContext& c, RestRequest r, RestClient::Done d)
      : context(c), request(std::move(r)), pending(std::move(d)) {}

  bool finished() const { return pending.taken(); }
  // Whether the attempt was interrupted and the in-flight limit layer will send it again.
  bool postponed() const { return response != nullptr && response->postponed() && !finished(); }

  CallContext context;
  RestRequest request;

  // The retry layer's.
  Pending<absl::StatusOr<HttpResponse>> pending;
  std::optional<Backoff> backoff;
  absl::Status last_error;  // of the attempt before this one
  bool ambiguous = false;   // an earlier attempt may have been carried out

  // The in-flight limit layer's.
  bool in_flight = false;  // holds one of max_in_flight
  // Of the attempt; null with a sink of the caller's.
  std::shared_ptr<ResponseBudget::Response> response;
  size_t response_bytes = 0;  // received before the attempt was postponed

  // The auth layer's.
  bool sent = false;      // at least one attempt was
  bool awaiting = false;  // an attempt was sent, and the retry layer has no response to it yet
};
using ClientCallPtr = std::shared_ptr<ClientCall>;

// Sends calls, possibly through another layer. Loop thread only.
class CallLayer {
 public:
  using Done = RestClient::Done;
  virtual ~CallLayer() = default;

  // Makes one attempt. `done` gets its result, unless the call is finished before.
  virtual void Send(const ClientCallPtr& call, Done done) = 0;
  // The call is finished.
  virtual void End(const ClientCallPtr& /*call*/) {}
};

}  // namespace mandate
