// All identities of the process, by (cluster, component).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/thread_pool.h"
#include "manager/identity/caching_token_source.h"
#include "manager/identity/identity.h"
#include "manager/identity/identity_mode.h"
#include "manager/kubeconfig/child_process.h"
#include "manager/kubeconfig/cluster_config.h"
#include "manager/kubeconfig/file_token_source.h"
#include "manager/transport/transport.h"

namespace mandate {

// Creates all identities at once; the set is fixed from then on. Component() is thread-safe;
// everything else is for the loop thread.
class IdentityRegistry {
 public:
  struct Options {
    Loop* loop = nullptr;
    Transport* transport = nullptr;  // both outlive the registry
    struct OfCluster {
      ClusterConfig config;
      std::vector<std::string> components;  // those with an identity there; DNS-1123 labels
    };
    std::vector<OfCluster> clusters = {};  // names differ
    // The namespace of the manager and of its ServiceAccounts, in every cluster.
    std::string ns = {};
    std::string version = {};  // for user agents
    IdentityMode mode = IdentityMode::kToken;
    // The ServiceAccount of base, and the product in user agents. A component's ServiceAccount is
    // this name, "-" and the component's name.
    std::string service_account = "mandate-manager";
    absl::Duration token_expiration = absl::Hours(1);
    std::vector<std::string> audiences = {};  // empty: the API server's default
    // Binds each component's tokens to a Secret that has the name of its ServiceAccount. Deleting
    // that Secret revokes them (the server caches tokens for 10 s, and a deletion counts after 60
    // s).
    bool bind_to_secrets = false;
    bool create_service_accounts = false;
    size_t max_token_requests = 10;  // in flight, over all identities of a cluster
    uint64_t seed = 0;               // for the jitter
    FileReader reader = LocalFileReader();
    // How long base's exec plugin may take, and whether base may use a client certificate from it
    // (unset: it may).
    absl::Duration exec_plugin_timeout = absl::Seconds(30);
    std::function<absl::Status(const ClientCertificate&)> accept_certificate = {};
    // How and where the plugin runs. If empty and null, it is a process, and a thread of its own
    // waits for it.
    ChildRunner run = {};
    Executor* plugin_workers = nullptr;
    Logger log = {};
    Metrics* metrics = nullptr;  // may be null; outlives the registry
    // Called on the loop when base has a token in this cluster that may be new.
    std::function<void(const std::string& cluster)> on_new_base_token = {};
    // Called on the loop when a component's token status changed; kToken only.
    std::function<void(const ComponentIdentity&, const TokenStatus&)> listener = {};
  };

  // kInvalidArgument names the invalid option.
  static absl::StatusOr<std::unique_ptr<IdentityRegistry>> Create(Options options);
  ~IdentityRegistry();

  // Returns the same object each time; it lives as long as the registry. kInvalidArgument for an
  // empty name; kNotFound for a component or cluster that is not listed. Never base.
  absl::StatusOr<ComponentIdentity*> Component(std::string_view cluster,
                                               std::string_view name) const;
  absl::StatusOr<BaseIdentity*> Base(const BaseAccess& key, std::string_view cluster) const;

  // Fetches every component's first token now, so that readiness is known before the first request.
  void Start();

  // The status of base's token, in the modes in which components use it.
  TokenStatus Status(const ComponentIdentity& identity) const;

 private:
  struct Cluster;
  using Key = std::pair<std::string, std::string>;  // cluster, component

  explicit IdentityRegistry(Options options);
  absl::Status AddCluster(const Options::OfCluster& options);
  absl::StatusOr<std::unique_ptr<CachingTokenSource>> NewPluginTokens(const Cluster& cluster,
                                                                      const ExecPlugin& plugin);
  absl::Status AddComponent(const Cluster& cluster, const std::string& name);
  absl::StatusOr<std::unique_ptr<CachingTokenSource>> NewTokens(
      const Cluster& cluster, const std::string& name, const std::string& service_account,
      std::shared_ptr<ComponentIdentity*> identity);
  // Calls on_new_base_token; null if that is not set.
  std::function<void()> BaseNews(const std::string& cluster) const;
  std::function<void(FetchOutcome)> FetchCounter(const std::string& cluster,
                                                 const std::string& name) const;
  WaiterMetrics WaitersOf(const std::string& cluster, const std::string& name) const;

  const Options options_;
  // One thread for each plugin, because a plugin blocks. Joined after a stop was requested of its
  // tasks.
  std::vector<std::unique_ptr<ThreadPool>> plugin_threads_;
  std::map<std::string, std::unique_ptr<Cluster>, std::less<>> clusters_;
  std::map<Key, std::unique_ptr<CachingTokenSource>> tokens_;
  std::map<Key, std::unique_ptr<ComponentIdentity>> components_;
};

}  // namespace mandate
