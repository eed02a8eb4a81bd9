// The connection between one process and the API server. The process dies at one of its writes:
// the request is lost, the answer is lost, or the request arrives long after the death.
#pragma once

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/transport.h"

namespace mandate::simulation {

// Whether the request changes an object of the scope controllers: roles, bindings, statuses.
// Tokens, access reviews and events do not count.
bool IsObjectWrite(const HttpRequest& request);

// Single-threaded.
class Wire : public Transport {
 public:
  enum class Death { kRequestLost, kAnswerLost, kRequestDelayed };

  // Both outlive this; `server` also outlives the delayed requests.
  Wire(SimulatedLoop& loop, Transport& server) : loop_(loop), server_(server) {}

  // The process dies at its `nth` object write from now; 1 is the next. `late`: the delay of
  // a delayed request. `died` is called at the death.
  void DieAt(
      int nth, Death how, absl::Duration late = absl::ZeroDuration(),
      std::function<void()> died = [] {});
  // Cancels DieAt().
  void Spare() { until_death_ = 0; }
  // Nothing more is sent; requests that were sent still arrive.
  void Die() { dead_ = true; }
  bool dead() const { return dead_; }

  void Call(const CallContext& context, HttpRequest request, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override;

 private:
  void Fail(Done done);

  SimulatedLoop& loop_;
  Transport& server_;
  bool dead_ = false;
  int until_death_ = 0;  // 0: no death is scheduled
  Death how_ = Death::kRequestLost;
  absl::Duration late_;
  std::function<void()> died_;
};

}  // namespace mandate::simulation
