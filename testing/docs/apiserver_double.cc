// The blocks of docs/apiserver-double.md, with what their reader has at that place.
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/transport.h"
#include "testing/apiserver/api_server.h"
#include "testing/apiserver/sim_server.h"

namespace mandate::docs {

void OverHttps(Endpoint& endpoint) {
#include "testing/docs/apiserver_double_1.inc"
}

void WithoutSockets() {
#include "testing/docs/apiserver_double_2.inc"
  static_cast<void>(transport);
}

}  // namespace mandate::docs
