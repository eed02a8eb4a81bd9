#include "manager/health_servers.h"

#include <map>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/telemetry/endpoints.h"

namespace mandate {
namespace {

absl::Status OfFlag(std::string_view flag, const absl::Status& status) {
  return absl::Status(status.code(), StrCat(flag, ": ", AsStd(status.message())));
}

bool IsServed(const std::string& address) { return !address.empty() && address != "0"; }

HttpServer::Options ServerOf(const HealthServers::Options& options, const std::string& address,
                             std::map<std::string, ServeHandler> handlers) {
  return {.address = address,
          .handlers = std::move(handlers),
          .metrics = options.metrics,
          .log = options.log};
}

}  // namespace

absl::Status HealthServers::ServeHttp(const Options& options) {
  std::map<std::string, ServeHandler> health;
  AddHealthEndpoints(live_, "/healthz", health);
  AddHealthEndpoints(live_, "/livez", health);
  AddHealthEndpoints(*options.ready, "/readyz", health);
  std::map<std::string, ServeHandler> metrics;
  AddMetricsEndpoint(*options.metrics, process_, metrics);
  if (IsServed(options.metrics_address)) {
    HttpServer::Options server = ServerOf(options, options.metrics_address, metrics);
    if (options.metrics_secure) {
      auto certificate = ServingCertificate::Create(options.metrics_certificate);
      if (!certificate.ok()) return OfFlag("--metrics-cert-path", certificate.status());
      certificate_ = *std::move(certificate);
      server.certificate = certificate_.get();
      server.access_check = options.metrics_access_check;
    }
    if (options.metrics_address != options.health_address) {
      auto served = HttpServer::Create(std::move(server));
      if (!served.ok()) return OfFlag("--metrics-bind-address", served.status());
      metrics_ = *std::move(served);
      options.log.Info("Serving metrics",
                       {{"address", metrics_->address()}, {"secure", options.metrics_secure}});
    } else if (options.metrics_secure) {
      return absl::InvalidArgumentError(
          "secure metrics need an address of their own: probes are served without authentication");
    } else {
      health.merge(metrics);
    }
  }
  if (!IsServed(options.health_address)) return absl::OkStatus();
  auto served = HttpServer::Create(ServerOf(options, options.health_address, std::move(health)));
  if (!served.ok()) return OfFlag("--health-probe-bind-address", served.status());
  health_ = *std::move(served);
  options.log.Info("Serving health probes", {{"address", health_->address()}});
  return absl::OkStatus();
}

absl::Status HealthServers::ServeGrpc(const Options& options) {
  if (!IsServed(options.grpc_address)) return absl::OkStatus();
  auto served = GrpcHealthServer::Create(
      {.address = options.grpc_address, .checks = options.ready, .loop = options.loop});
  if (!served.ok()) return OfFlag("--grpc-health-address", served.status());
  grpc_ = *std::move(served);
  options.log.Info("Serving gRPC health", {{"address", grpc_->address()}});
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HealthServers>> HealthServers::Create(const Options& options) {
  std::unique_ptr<HealthServers> servers(new HealthServers(*options.metrics));
  RETURN_IF_ERROR(servers->ServeHttp(options));
  RETURN_IF_ERROR(servers->ServeGrpc(options));
  return servers;
}

}  // namespace mandate
