// The line between one process and the API server. The process dies at one of its writes, whose
// request is lost, whose answer is lost, or whose request arrives when the process is long dead.
#ifndef TESTING_SIMULATION_SCOPE_WIRE_H_
#define TESTING_SIMULATION_SCOPE_WIRE_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/transport.h"

namespace mandate::simulation {

// Whether the request changes an object of the scope controllers: roles, bindings, statuses.
// Tokens, access reviews and events are not meant.
bool IsObjectWrite(const HttpRequest& request);

// Single-threaded.
class Wire : public Transport {
 public:
  enum class Death { kRequestLost, kAnswerLost, kRequestDelayed };

  // Both outlive this; `server` also outlives what is delayed.
  Wire(SimulatedLoop& loop, Transport& server) : loop_(loop), server_(server) {}

  // The process dies at its `nth` object write from now; 1 is the next. `late`: how much later a
  // delayed request arrives. `died` is called then.
  void DieAt(
      int nth, Death how, absl::Duration late = absl::ZeroDuration(),
      std::function<void()> died = [] {});
  // Takes DieAt() back.
  void Spare() { until_death_ = 0; }
  // Nothing is sent any more; what was sent is on its way.
  void Die() { dead_ = true; }
  bool dead() const { return dead_; }

  void Call(const CallContext& context, HttpRequest request, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override;

 private:
  void Fail(Done done);

  SimulatedLoop& loop_;
  Transport& server_;
  bool dead_ = false;
  int until_death_ = 0;  // 0: lives on
  Death how_ = Death::kRequestLost;
  absl::Duration late_;
  std::function<void()> died_;
};

}  // namespace mandate::simulation

#endif  // TESTING_SIMULATION_SCOPE_WIRE_H_
