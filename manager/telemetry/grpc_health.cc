#include "manager/telemetry/grpc_health.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <utility>

#include "manager/core/strings.h"

namespace mandate {

// The timer, and the members that Update() uses, belong to the loop.
class GrpcHealthServer::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Options options, std::unique_ptr<grpc::Server> server, std::string address)
      : options_(std::move(options)),
        server_(std::move(server)),
        address_(std::move(address)),
        service_(*server_->GetHealthCheckService()) {}

  void Update() {
    bool all = true;
    for (const HealthChecks::Result& result : options_.checks->Run()) {
      all = all && result.status.ok();
      service_.SetServingStatus(result.name, result.status.ok());
    }
    service_.SetServingStatus("", all);
  }

  void Tick() {
    if (stopped_) return;
    Update();
    timer_ = options_.loop->RunAt(options_.loop->clock().TimeNow() + options_.period,
                                  [this] { Tick(); });
  }

  void Stop() {
    server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));  // at once
    std::shared_ptr<Latch> stopped(&stopped_latch_,
                                   [self = shared_from_this()](Latch* latch) { latch->Set(); });
    options_.loop->Post([self = shared_from_this(), stopped = std::move(stopped)] {
      self->stopped_ = true;
      self->timer_.reset();
    });
    options_.loop->Await(stopped_latch_);
    server_->Wait();
  }

  Loop& loop() const { return *options_.loop; }
  const std::string& address() const { return address_; }

 private:
  const Options options_;
  const std::unique_ptr<grpc::Server> server_;
  const std::string address_;
  grpc::HealthCheckServiceInterface& service_;
  bool stopped_ = false;
  std::unique_ptr<Loop::Timer> timer_;
  Latch stopped_latch_;
};

absl::StatusOr<std::unique_ptr<GrpcHealthServer>> GrpcHealthServer::Create(Options options) {
  if (options.checks == nullptr || options.loop == nullptr ||
      options.period <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("gRPC health: the server needs checks, a loop and a period");
  }
  grpc::EnableDefaultHealthCheckService(true);
  // gRPC 1.51 does not start a server whose only service is the health service, so the server also
  // has the reflection service. The shared library of reflection registers itself when it is
  // loaded, but the static one does not. Registering twice does no harm.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(), &port);
  // Otherwise two servers could listen on one port, and each would get half of the probes.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::UnavailableError(StrCat("cannot serve gRPC health on ", options.address,
                                         "; write IP:PORT with a free port, or port 0 for any"));
  }
  const size_t colon = options.address.rfind(':');
  std::string address = StrCat(options.address.substr(0, colon), ":", port);
  auto core = std::make_shared<Core>(std::move(options), std::move(server), std::move(address));
  core->Update();  // gRPC's health service initially reports SERVING
  core->loop().Post([core] { core->Tick(); });
  return std::unique_ptr<GrpcHealthServer>(new GrpcHealthServer(std::move(core)));
}

GrpcHealthServer::GrpcHealthServer(std::shared_ptr<Core> core) : core_(std::move(core)) {}
GrpcHealthServer::~GrpcHealthServer() { core_->Stop(); }
const std::string& GrpcHealthServer::address() const { return core_->address(); }

}  // namespace mandate
