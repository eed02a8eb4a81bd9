// Health and metrics of the process, over HTTP and gRPC.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/serving/http_server.h"
#include "manager/serving/serving_certificate.h"
#include "manager/telemetry/grpc_health.h"
#include "manager/telemetry/health.h"
#include "manager/telemetry/process_metrics.h"

namespace mandate {

// /healthz and /livez tell whether the process lives, /readyz whether each component can work.
// /metrics has the metrics. Serves until it is destroyed. Thread-safe.
class HealthServers {
 public:
  struct Options {
    // "host:port", where port 0 means any free port; "0": not served. Equal addresses share a
    // server.
    std::string health_address = {};
    std::string metrics_address = {};
    std::string grpc_address = {};
    // Over TLS, to clients that metrics_access_check allows. Metrics then need an address of their
    // own, because health needs no authentication.
    bool metrics_secure = false;
    ServingCertificate::Options metrics_certificate = {};
    AccessCheck metrics_access_check = {};
    const HealthChecks* ready = nullptr;
    Metrics* metrics = nullptr;
    Loop* loop = nullptr;  // the three outlive this
    Logger log = {};
  };

  // kInvalidArgument, kUnavailable: an address that is invalid or in use; a certificate that cannot
  // be served.
  static absl::StatusOr<std::unique_ptr<HealthServers>> Create(const Options& options);

 private:
  explicit HealthServers(Metrics& metrics) : process_(metrics) {}
  absl::Status ServeHttp(const Options& options);
  absl::Status ServeGrpc(const Options& options);

  HealthChecks live_;
  ProcessMetrics process_;
  std::unique_ptr<ServingCertificate> certificate_;
  std::unique_ptr<HttpServer> health_;
  std::unique_ptr<HttpServer> metrics_;
  std::unique_ptr<GrpcHealthServer> grpc_;
};

}  // namespace mandate
