// A request whose answer only shows that the connection is alive.
#ifndef MANAGER_TRANSPORT_PROBE_EXCHANGE_H_
#define MANAGER_TRANSPORT_PROBE_EXCHANGE_H_

#include <string_view>

#include "manager/transport/exchange.h"

namespace mandate {

// Any answer will do, a refusal too: nothing is done with it. Loop thread only.
class ProbeExchange : public Exchange {
 public:
  using Exchange::Exchange;
  bool OnHead(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }

 private:
  void OnEnd(absl::Status) override {}
};

// GET /livez in the name of whoever made `request`.
inline HttpRequest ProbeFor(const HttpRequest& request) {
  HttpRequest probe(request.endpoint, request.credential, "GET", "/livez");
  probe.user_agent = request.user_agent;
  probe.accept = "*/*";
  probe.headers = request.headers;
  return probe;
}

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_PROBE_EXCHANGE_H_
