// The double over HTTPS with HTTP/2, on loopback, on a thread of its own.
//
//   auto server = *ApiServer::Create({});
//   endpoint.server = server->url();
//   endpoint.ca_pem = server->ca_pem();
//   … with the bearer token kAdminToken, or of a ServiceAccount …
//   server->OnLoop([](ServerCore& core) { core.faults().Add(…); });
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"
#include "testing/apiserver/server_core.h"

namespace mandate::apiserver {

// Thread-safe.
class ApiServer {
 public:
  static absl::StatusOr<std::unique_ptr<ApiServer>> Create(ServerOptions options);
  // Closes all connections.
  ~ApiServer();

  std::string url() const { return h2_->url(); }
  const std::string& ca_pem() const { return ca_.certificate_pem(); }

  // Runs `work` on the server's loop and waits for it.
  void OnLoop(const std::function<void(ServerCore&)>& work);

  // The connections: sends GOAWAY, makes them half-open, counts them.
  H2Server& connections() { return *h2_; }

 private:
  ApiServer() = default;

  void Serve(std::shared_ptr<ServerStream> stream);

  TestCa ca_;
  std::unique_ptr<H2Server> h2_;
  std::unique_ptr<ServerCore> core_;  // used on the loop's thread only
};

}  // namespace mandate::apiserver
