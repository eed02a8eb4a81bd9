// The HTTPS server of all components' webhooks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/admission/component_webhooks.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/serving/http_server.h"
#include "manager/serving/serving_certificate.h"

namespace mandate {

// Serves until it is destroyed. Thread-safe.
class WebhookServer {
 public:
  struct Options {
    std::string address;  // "host:port", where port 0 means any free port
    ServingCertificate& certificate;
    std::vector<ComponentWebhooks*> components;
    Metrics& metrics;  // all outlive this
    Logger log = {};
  };

  // kInvalidArgument: the address is invalid, or two components have a webhook with the same path.
  // kUnavailable: the server cannot listen on the address.
  static absl::StatusOr<std::unique_ptr<WebhookServer>> Create(const Options& options);

  // See HttpServer::Drain().
  void Drain() { server_->Drain(); }

  // With the port that was chosen.
  const std::string& address() const { return server_->address(); }

 private:
  WebhookServer() = default;

  std::unique_ptr<HttpServer> server_;
};

}  // namespace mandate
