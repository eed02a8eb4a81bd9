// What a Manager has of each cluster: the identities, their clients, the cache, and base.
#include <algorithm>
#include <set>
#include <utility>

#include "manager/base_check.h"
#include "manager/base_name.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"
#include "manager/manager_parts.h"
#include "manager/object/names.h"

namespace mandate {
namespace {

// The manager's own cluster.
constexpr char kHome[] = "home";

}  // namespace

absl::Status Manager::Parts::BuildClusters(const std::vector<ComponentSpec>& specs) {
  clusters.push_back(std::make_unique<ManagedCluster>(
      ManagedCluster{.name = kHome, .metrics = metrics, .log = options.log}));
  std::set<std::string, std::less<>> names = {kHome};
  for (const ClusterConfig& config : options.clusters) {
    if (absl::Status s = CheckDnsLabel(config.name); !s.ok()) {
      return absl::InvalidArgumentError(
          StrCat("\"", config.name, "\" cannot name a cluster: ", AsStd(s.message())));
    }
    if (!names.insert(config.name).second) {
      return absl::InvalidArgumentError(
          StrCat("cluster \"", config.name,
                 config.name == kHome ? "\" is the manager's own; give the further one another name"
                                      : "\" is given twice"));
    }
    clusters.push_back(std::make_unique<ManagedCluster>(
        ManagedCluster{.name = config.name,
                       .metrics = metrics.With({{"cluster", config.name}}),
                       .log = options.log.With("cluster", config.name)}));
  }
  std::set<std::string_view> components;
  for (const ComponentSpec& spec : specs) {
    if (!spec.cluster.empty() && !names.contains(spec.cluster)) {
      return absl::InvalidArgumentError(
          StrCat("component ", spec.mandate->component, " is of cluster \"", spec.cluster,
                 "\", which the manager does not have; add it to ManagerOptions::clusters"));
    }
    // Of all clusters: logs, metrics and probes tell components apart by their names.
    if (!components.insert(spec.mandate->component).second) {
      return absl::InvalidArgumentError(
          StrCat("component ", spec.mandate->component, " is given twice"));
    }
  }
  return absl::OkStatus();
}

ManagedCluster& Manager::Parts::Cluster(std::string_view name) const {
  for (const auto& cluster : clusters) {
    if (cluster->name == name) return *cluster;
  }
  return *clusters[0];
}

absl::Status Manager::Parts::BuildIdentities(const std::vector<ComponentSpec>& specs) {
  IdentityRegistry::Options plane;
  plane.loop = loop.get();
  plane.transport = transport.get();
  plane.clusters.push_back({options.cluster, {}});
  plane.clusters[0].config.name = kHome;
  for (const ClusterConfig& config : options.clusters) plane.clusters.push_back({config, {}});
  for (const ComponentSpec& spec : specs) {
    for (auto& [config, components] : plane.clusters) {
      if (config.name == Cluster(spec.cluster).name) {
        components.emplace_back(spec.mandate->component);
      }
    }
  }
  plane.ns = options.ns;
  plane.service_account = BaseName(*options.base_mandate);
  plane.version = options.version;
  plane.mode = options.identity_mode;
  plane.create_service_accounts = options.create_service_accounts;
  plane.bind_to_secrets = options.bind_tokens_to_secrets;
  plane.audiences = options.token_audiences;
  plane.exec_plugin_timeout = options.exec_plugin_timeout;
  plane.accept_certificate = [name = plane.service_account](const ClientCertificate& certificate) {
    return RejectAdministrator(certificate, name);
  };
  // Base has a token, and checks it. Earlier tokens are checked together with it.
  plane.on_new_base_token = [this](const std::string& name) {
    const ManagedCluster& cluster = Cluster(name);
    if (cluster.base != nullptr) cluster.base->OnNewToken();
  };
  plane.log = options.log;
  plane.seed = random();
  plane.metrics = &metrics;
  plane.listener = [this](const ComponentIdentity& identity, const TokenStatus& status) {
    OnTokenStatus(identity, status);
  };
  ASSIGN_OR_RETURN(identities, IdentityRegistry::Create(std::move(plane)));
  for (const auto& cluster : clusters) {
    ASSIGN_OR_RETURN(BaseIdentity * base, identities->Base(BaseAccess(), cluster->name));
    ASSIGN_OR_RETURN(cluster->base_client, NewClient(*cluster, *base, *options.base_mandate));
    RETURN_IF_ERROR(BuildCache(*cluster));
  }
  for (const ComponentSpec& spec : specs) {
    ManagedCluster& cluster = Cluster(spec.cluster);
    ASSIGN_OR_RETURN(ComponentIdentity * identity,
                     identities->Component(cluster.name, spec.mandate->component));
    RETURN_IF_ERROR(CheckBaseServes(*identity));
    ASSIGN_OR_RETURN(auto client, NewClient(cluster, *identity, *spec.mandate));
    ASSIGN_OR_RETURN(auto recorder, RestEventRecorder::Create({.client = client.get(),
                                                               .instance = instance,
                                                               .metrics = &cluster.metrics,
                                                               .log = cluster.log,
                                                               .seed = random()}));
    cluster.hints->Add(client->component(), identity->username());
    clients.push_back(std::move(client));
    recorders.push_back(std::move(recorder));
  }
  return absl::OkStatus();
}

// The chart's role of base has the components that its mandate has, and so would lack this one.
absl::Status Manager::Parts::CheckBaseServes(const ComponentIdentity& identity) const {
  if (options.identity_mode != IdentityMode::kToken || options.guard != GuardMode::kEnforce) {
    return absl::OkStatus();
  }
  const rbac::Attributes request = {.verb = "create",
                                    .api_group = {},
                                    .api_version = "v1",
                                    .resource = "serviceaccounts",
                                    .subresource = "token",
                                    .ns = options.ns,
                                    .name = identity.service_account(),
                                    .path = {}};
  // In which namespace base may do so is checked with the server.
  const bool serves = std::ranges::any_of(
      options.base_mandate->rules,
      [&](const rbac::MandateRule& r) { return rbac::RuleAllows(r.rule, request); });
  if (serves) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("ManagerOptions::base_mandate does not let base create tokens for ServiceAccount ",
             identity.service_account(), ": add the sources of component ", identity.name(),
             " to those of the mandate_header() with base = \"only\" (Bazel), or the component to "
             "COMPONENTS of mandate_program() (CMake)"));
}

absl::StatusOr<std::unique_ptr<ComponentClient>> Manager::Parts::NewClient(
    ManagedCluster& cluster, const Identity& identity, const rbac::Mandate& mandate) {
  const Logger log = cluster.log.With("component", mandate.component);
  return ComponentClient::Create({
      .loop = loop.get(),
      .transport = transport.get(),
      .identity = &identity,
      .mandate = &mandate,
      .guard = options.guard,
      .seed = random(),
      .metrics = &cluster.metrics,
      .log = log,
      .on_warning =
          [log](std::string_view text) {
            log.Info("The API server warns", {{"warning", text}});
          },
      .on_undeclared =
          [log](const absl::Status& status) {
            log.Error("A request is not declared by any marker", {{"reason", status}});
          },
      .on_forbidden = [this, component = mandate.component] { Recheck(component); },
      // A component may have granted or revoked what another one reads.
      .on_rbac_write =
          [&cluster](std::string_view ns) {
            if (cluster.cache != nullptr) cluster.cache->RecheckAccess("", ns);
          },
  });
}

// Each cluster has its own part of the bound, so that none can take another's.
absl::Status Manager::Parts::BuildCache(ManagedCluster& cluster) {
  const size_t max_bytes = options.max_watch_bytes / clusters.size();
  ReflectorOptions reflector;
  reflector.max_bytes = max_bytes;
  ASSIGN_OR_RETURN(cluster.cache, Cache::Create({.loop = *loop,
                                                 .metrics = cluster.metrics,
                                                 .log = cluster.log,
                                                 .seed = random(),
                                                 .max_watch_bytes = max_bytes,
                                                 .max_list_bytes = max_bytes,
                                                 .transform = options.transform,
                                                 .reflector = reflector}));
  cluster.hints = std::make_unique<ComponentHints>(*cluster.cache);
  return absl::OkStatus();
}

std::optional<rbac::Rule> Manager::Parts::NeededByBase(const ManagedCluster& cluster,
                                                       const std::vector<ComponentSpec>& specs) {
  // The Lease is in the manager's own cluster.
  if (options.leader_elect && cluster.name == kHome) {
    return rbac::Rule{.verbs = {"get"},
                      .api_groups = {"coordination.k8s.io"},
                      .resources = {"leases"},
                      .resource_names = {BaseName(*options.base_mandate)}};
  }
  if (options.identity_mode != IdentityMode::kToken) return std::nullopt;
  for (const ComponentSpec& spec : specs) {
    const auto identity = identities->Component(cluster.name, spec.mandate->component);
    if (!identity.ok()) continue;  // of another cluster
    return rbac::Rule{.verbs = {"create"},
                      .api_groups = {""},
                      .resources = {"serviceaccounts/token"},
                      .resource_names = {(*identity)->service_account()}};
  }
  return std::nullopt;
}

void Manager::Parts::BuildBases(const std::vector<ComponentSpec>& specs) {
  for (const auto& cluster : clusters) {
    const auto base = identities->Base(BaseAccess(), cluster->name);
    cluster->base = std::make_unique<ClusterBase>(
        ClusterBase::Options{.client = cluster->base_client.get(),
                             .endpoint = *(*base)->endpoint(),
                             .ns = options.ns,
                             .service_account = BaseName(*options.base_mandate),
                             .mode = options.identity_mode,
                             .needed = NeededByBase(*cluster, specs),
                             .log = cluster->log,
                             .on_lost = [this](const absl::Status& why) { Lose(why); }});
  }
}

absl::Duration Manager::Parts::BaseTimeout(const ClusterConfig& cluster) const {
  const bool plugin = std::holds_alternative<ExecPlugin>(cluster.base);
  return options.startup_timeout + (plugin ? options.exec_plugin_timeout : absl::ZeroDuration());
}

absl::Status Manager::Parts::CheckBase() {
  return clusters[0]->base->Check(
      {loop->clock().TimeNow() + BaseTimeout(options.cluster), /*stop=*/{}});
}

// The manager does not wait for further clusters: while one is away, the components of the others
// work.
void Manager::Parts::KeepCheckingBases() {
  for (size_t i = 0; i < clusters.size(); ++i) {
    if (i == 0 && clusters[0]->base->Warning().empty()) continue;
    clusters[i]->base->KeepChecking(*preflight_threads,
                                    BaseTimeout(i == 0 ? options.cluster : options.clusters[i - 1]),
                                    random());
  }
}

}  // namespace mandate
