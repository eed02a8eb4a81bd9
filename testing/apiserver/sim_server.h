// The double behind a Transport, without sockets: whole systems run on it in virtual time. Each
// seed is one schedule.
//
//   SimulatedLoop loop;
//   SimServer server(loop, options);  // options.core.seed = seed
//   … components over server.transport() …
//   server.core().faults().Add(…);
//   loop.RunFor(absl::Hours(1));
#pragma once

#include <memory>
#include <random>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/testing/fake_transport.h"
#include "manager/transport/transport.h"
#include "testing/apiserver/server_core.h"

namespace mandate::apiserver {

struct SimOptions {
  ServerOptions core;
  // Each response and each frame is delayed randomly by at most this time. The frames of a stream
  // keep their order.
  absl::Duration max_latency = absl::Milliseconds(5);
};

// Loop thread only.
class SimServer {
 public:
  SimServer(Loop& loop, SimOptions options);  // `loop` outlives this
  // Open calls and streams end with kCancelled, later on the loop.
  ~SimServer();

  // Records every request, and can fail requests like any FakeTransport.
  FakeTransport& transport() { return transport_; }
  ServerCore& core() { return core_; }

 private:
  class CallExchange;
  class StreamExchange;

  absl::Duration Latency();
  void Serve(const HttpRequest& request, FakeTransport::Reply reply);
  void Serve(FakeStream& stream);

  Loop& loop_;
  const SimOptions options_;
  std::mt19937_64 random_;
  ServerCore core_;
  FakeTransport transport_;
};

}  // namespace mandate::apiserver
