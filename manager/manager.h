// The components assembled into one process: identities, clients, cache, controllers, election,
// health and metrics; started and stopped in order.
//
//   auto manager = Manager::Create(options, {{&kScopeTemplate, MakeTemplateControllers}, …});
//   return (*manager)->Run(stop);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/admission/component_webhooks.h"
#include "manager/client/guard.h"
#include "manager/component.h"
#include "manager/core/log.h"
#include "manager/identity/identity_registry.h"
#include "manager/kubeconfig/cluster_config.h"
#include "manager/memory_limit.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"
#include "manager/rbac/mandate.h"
#include "manager/serving/serving_certificate.h"
#include "manager/transport/http_options.h"

namespace mandate {

// As in OtlpExporter::Options (tracing/otlp_exporter.h).
struct Tracing {
  std::string service_name = "mandate-manager";
  std::string endpoint = {};
  std::string ca_file = {};
  int32_t sampling_rate_per_million = 1'000'000;
};

struct ManagerOptions {
  ClusterConfig cluster;  // the manager's own
  // Further clusters, each with a name of its own (ClusterConfig::name, a DNS label, not "home")
  // and base's credential there. A component is in one cluster (ComponentSpec::cluster). The
  // manager does not wait for these clusters: while one is away, only its own components fail.
  std::vector<ClusterConfig> clusters = {};
  std::string ns;  // of the manager, its ServiceAccounts and its Lease; the same in every cluster
  std::string version;
  // The permissions of base: tokens and its Lease. The name of the Lease is the name of the manager
  // (base_name.h).
  const rbac::Mandate* base_mandate = nullptr;

  IdentityMode identity_mode = IdentityMode::kToken;
  bool create_service_accounts = false;
  // Binds each component's tokens to a Secret named as its ServiceAccount, whose deletion ends
  // them; kToken only.
  bool bind_tokens_to_secrets = false;
  // With them: how often each component's token is tried, so that an idle one's end is noticed.
  absl::Duration token_check_period = absl::Seconds(10);
  // The audiences of components' tokens; empty: the API server's own.
  std::vector<std::string> token_audiences = {};
  GuardMode guard = GuardMode::kEnforce;

  bool leader_elect = true;

  // "host:port"; "0": not served.
  std::string health_address = "127.0.0.1:8081";
  std::string metrics_address = "127.0.0.1:8080";
  std::string grpc_health_address = "0";
  // The debug listener (debug_server.h), without authentication: only a loopback address is valid.
  std::string debug_address = "0";
  // Serves metrics over HTTPS, to users that may `get` /metrics. The component metrics-auth
  // (telemetry/access_reviewer.h), which must exist, asks the API server. The metrics then have an
  // address of their own.
  bool metrics_secure = false;
  ServingCertificate::Options metrics_certificate = {};

  // "host:port"; "0": webhooks are not served. They are served on every replica, leader or not.
  std::string webhook_address = "0";
  // Required if webhooks are served. The manager is not ready before it has a certificate.
  std::shared_ptr<ServingCertificate> webhook_certificate = nullptr;
  WebhookLimits webhook_limits = {};
  // How long webhooks are served after the stop was requested, so that the API server has stopped
  // sending reviews here when the process ends. Each answer then ends its connection.
  absl::Duration webhook_drain_duration = absl::Seconds(5);

  // Bounds of connections. `read_idle_timeout` and `log` are the Manager's own.
  HttpOptions transport = {};

  // The time limit of one run of the kubeconfig's exec plugin.
  absl::Duration exec_plugin_timeout = absl::Seconds(30);
  // The time limit of the first request to the API server, from the time when there is a
  // credential.
  absl::Duration startup_timeout = absl::Seconds(15);
  // The time that running reconcilers and the election have to end.
  absl::Duration graceful_shutdown_timeout = absl::Seconds(30);
  // A turn of the event loop that takes longer is reported with its cause, because leases, tokens
  // and every watch wait for it.
  absl::Duration loop_block_warning_after = absl::Seconds(1);
  // The limit of the stored objects of all watches together (cache/cache.h), and so of one kind,
  // too; and of what one typed list decodes. Clusters have equal parts of it. By default a quarter
  // of the container's memory.
  size_t max_watch_bytes = DefaultMaxWatchBytes(MemoryLimit());
  // Where traces of reconciliations and their requests are sent (docs/tracing.md). Without an
  // endpoint nothing is traced.
  Tracing tracing = {};
  // Cache::Options::transform; null: objects are stored as the server sends them.
  std::function<std::shared_ptr<const RawObject>(const KindInfo&, std::shared_ptr<const RawObject>)>
      transform = nullptr;
  // The namespaces whose objects are read (cache/namespaced_view.h); empty: every namespace. Kinds
  // without namespaces, and demands that name their namespace, are not affected.
  std::vector<std::string> watch_namespaces = {};
  uint64_t seed = 0;  // of jitter and ids; a different one for each process
  Logger log;
};

// Not thread-safe; Run() may be stopped from any thread through its token.
class Manager {
 public:
  // Builds everything and asks the API server for base's user; starts nothing else. Errors:
  // kInvalidArgument names the option. kUnavailable: the server cannot be reached, or does not tell
  // base's user. kFailedPrecondition: base's credential is an administrator's. kUnauthenticated:
  // the server does not accept base's credential.
  static absl::StatusOr<std::unique_ptr<Manager>> Create(ManagerOptions options,
                                                         std::vector<ComponentSpec> components);
  ~Manager();

  // Starts health and metrics, the identities, the election, then the controllers; blocks until
  // `stop` is requested, and stops them in reverse: controllers, the lease, health. OK after a
  // clean stop. kAborted: leadership was lost, and the process must end, as another may already
  // act. kFailedPrecondition: base's credential is another user's, or an administrator's.
  // kDeadlineExceeded: some work still ran at the end of the graceful timeout. The Lease is kept
  // until the process ends, and another process takes it when it expires.
  absl::Status Run(std::stop_token stop);

 private:
  struct Parts;
  explicit Manager(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace mandate
