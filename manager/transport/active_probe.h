// A request whose answer only shows that the connection is alive.
#ifndef MANAGER_TRANSPORT_ACTIVE_PROBE_H_
#define MANAGER_TRANSPORT_ACTIVE_PROBE_H_

#include <string_view>

#include "manager/transport/active_request.h"

namespace mandate {

// Any response will do, an error too: its content is ignored. Loop thread only.
class ActiveProbe : public ActiveRequest {
 public:
  using ActiveRequest::ActiveRequest;
  bool OnHead(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }

 private:
  void OnEnd(absl::Status) override {}
};

// GET /livez with the credential and the user agent of `request`.
inline HttpRequest ProbeFor(const HttpRequest& request) {
  HttpRequest probe(request.endpoint, request.credential, "GET", "/livez");
  probe.user_agent = request.user_agent;
  probe.accept = "*/*";
  probe.headers = request.headers;
  return probe;
}

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_ACTIVE_PROBE_H_
