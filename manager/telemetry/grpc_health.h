// The gRPC health protocol (grpc.health.v1), for probes of kind grpc and for the manager's clients.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/telemetry/health.h"

namespace mandate {

// Serves each check under its name, and all of them together under "". The checks run again in each
// period; Watch() streams the changes. Thread-safe; destroyed before its loop ends.
class GrpcHealthServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:8082";  // port 0: any free one
    const HealthChecks* checks = nullptr;    // outlives the server
    Loop* loop = nullptr;                    // outlives the server
    absl::Duration period = absl::Seconds(1);
  };

  // kUnavailable: the server cannot listen on the address. Enables gRPC's health service for the
  // whole process.
  static absl::StatusOr<std::unique_ptr<GrpcHealthServer>> Create(Options options);
  // Ends open calls. Must not be called on the loop, unless the loop is simulated.
  ~GrpcHealthServer();

  // The address with the actual port.
  const std::string& address() const;

 private:
  class Core;
  explicit GrpcHealthServer(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  // shared with the loop
};

}  // namespace mandate
