// The parts of a Manager and their assembly. Only manager.cc includes this, and runs it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "manager/admission/webhook_server.h"
#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/cluster_base.h"
#include "manager/component_hints.h"
#include "manager/controller/rest_event_recorder.h"
#include "manager/core/loop_watchdog.h"
#include "manager/core/thread_pool.h"
#include "manager/debug_server.h"
#include "manager/health_servers.h"
#include "manager/leader/leader_elector.h"
#include "manager/manager.h"
#include "manager/preflight_loop.h"
#include "manager/rbac/mandate_in_namespace.h"
#include "manager/rbac/rule.h"
#include "manager/running_component.h"
#include "manager/telemetry/access_reviewer.h"
#include "manager/telemetry/health.h"
#include "manager/token_check.h"
#include "manager/tracing/otlp_exporter.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/transport_metrics.h"

namespace mandate {

// What a Manager has of one cluster. All of it belongs to the loop.
struct ManagedCluster {
  std::string name;  // "home": the manager's own
  // The manager's own; those of a further cluster say which one.
  Metrics metrics;
  Logger log;
  std::unique_ptr<ComponentClient> base_client = nullptr;
  std::unique_ptr<Cache> cache = nullptr;
  std::unique_ptr<ComponentHints> hints = nullptr;
  std::unique_ptr<ClusterBase> base = nullptr;
};

// Members are declared in the order of creation. Those that belong to the loop are destroyed on it
// (Shutdown).
struct Manager::Parts {
  explicit Parts(ManagerOptions o);
  ~Parts() { Shutdown(); }

  void Shutdown();
  // Replaces the placeholder kManagerNamespace in each mandate by the manager's namespace.
  void Place(std::vector<ComponentSpec>& specs);
  absl::Status BuildLoop();
  absl::Status BuildTracer();
  // The clusters and the place of each component.
  absl::Status BuildClusters(const std::vector<ComponentSpec>& specs);
  absl::Status BuildIdentities(const std::vector<ComponentSpec>& specs);
  absl::StatusOr<std::unique_ptr<ComponentClient>> NewClient(ManagedCluster& cluster,
                                                             const Identity& identity,
                                                             const rbac::Mandate& mandate);
  // kInvalidArgument if the base mandate does not cover the tokens of this component.
  absl::Status CheckBaseServes(const ComponentIdentity& identity) const;
  absl::Status BuildCache(ManagedCluster& cluster);
  // `name` is a cluster's, or empty for the manager's own.
  ManagedCluster& Cluster(std::string_view name) const;
  absl::Status BuildComponents(const std::vector<ComponentSpec>& specs);
  void BuildBases(const std::vector<ComponentSpec>& specs);
  // Checks base in the manager's own cluster. An error means that the manager must not run.
  absl::Status CheckBase();
  // A permission that base needs in the manager's namespace of that cluster, where it requests the
  // tokens of `specs`; nullopt if it needs none there.
  std::optional<rbac::Rule> NeededByBase(const ManagedCluster& cluster,
                                         const std::vector<ComponentSpec>& specs);
  // The limit of the first requests of base.
  absl::Duration BaseTimeout(const ClusterConfig& cluster) const;
  void KeepCheckingBases();
  absl::Status BuildElector();
  void BuildPreflights();
  void BuildTokenChecks();
  absl::Status BuildReviewer();
  absl::Status ServeHealth();
  absl::Status ServeDebug();
  absl::Status ServeWebhooks();
  // The webhooks of each component that has some.
  std::vector<ComponentWebhooks*> AllWebhooks() const;
  // OK when a review that arrives here is answered as well as it can be.
  absl::Status WebhooksReady() const;
  void DrainWebhooks(absl::Time requested);
  void Recheck(std::string_view component);
  // From now on the component gets the statuses of its token, the current one first. On the loop.
  void Register(RunningComponent& component);
  void OnTokenStatus(const ComponentIdentity& identity, const TokenStatus& status);
  absl::Status StopEverything();
  // The reason why all work must stop: leadership is lost, or base's credential belongs to another
  // user.
  absl::Status Lost();
  void Lose(const absl::Status& why);
  void FlushEvents();
  void CloseWatches(absl::Time deadline);

  ManagerOptions options;
  std::mt19937_64 random;
  const std::string instance;
  std::vector<std::unique_ptr<rbac::MandateInNamespace>> mandates;
  Metrics metrics;
  // Outlives all that is traced.
  std::unique_ptr<OtlpExporter> tracer;  // null: nothing is traced
  std::unique_ptr<EventLoop> loop;
  std::unique_ptr<LoopWatchdog> watchdog;
  std::unique_ptr<EventLoop>
      watchdog_loop;  // after the watchdog, which runs on this loop: the loop stops first
  std::unique_ptr<HttpTransport> transport;
  std::unique_ptr<TransportMetrics> transport_metrics;
  std::unique_ptr<IdentityRegistry> identities;
  std::vector<std::unique_ptr<ManagedCluster>> clusters;  // the manager's own is the first
  std::vector<std::unique_ptr<ComponentClient>> clients;
  std::vector<std::unique_ptr<RestEventRecorder>> recorders;
  DiscardingEventRecorder no_events;
  std::unique_ptr<LeaderElector> elector;
  std::vector<std::unique_ptr<ThreadPool>> workers;  // one for each component
  std::vector<std::unique_ptr<RunningComponent>> components;
  std::unique_ptr<ThreadPool> preflight_threads;
  std::vector<std::unique_ptr<PreflightLoop>> preflights;
  std::vector<std::unique_ptr<TokenCheck>> token_checks;
  std::unique_ptr<ThreadPool> review_threads;
  std::unique_ptr<AccessReviewer> reviewer;  // secure metrics only
  HealthChecks ready;
  std::unique_ptr<HealthServers> health;
  std::unique_ptr<DebugServer> debug;
  std::unique_ptr<WebhookServer> webhooks;
  // The components by name, for the listener of the identity registry.
  std::map<std::string, RunningComponent*, std::less<>> by_name;

  Latch leading;
  // Set when the manager must end: by a stop request or by Lose().
  Latch end;
  Mutex mutex;
  absl::Status lost ABSL_GUARDED_BY(mutex);
};

}  // namespace mandate
