#include "cmd/program/cluster_flags.h"

#include <algorithm>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"

namespace mandate {
namespace {

absl::Status Usage(std::string_view what) { return absl::InvalidArgumentError(AsAbsl(what)); }

absl::StatusOr<ClusterConfig> OwnCluster(const std::string& kubeconfig) {
  const auto paths = KubeconfigPaths(kubeconfig, ProcessEnvironment());
  if (!paths.empty()) {
    auto loaded = LoadKubeconfig(paths);
    if (loaded.ok()) return loaded;
    return Usage(StrCat(kubeconfig.empty() ? "$KUBECONFIG: " : "--kubeconfig: ",
                        AsStd(loaded.status().message())));
  }
  auto pod = InClusterConfig();
  if (pod.ok()) return pod;
  return Usage(StrCat("--kubeconfig: required, because $KUBECONFIG is not set and ",
                      AsStd(pod.status().message())));
}

// `value`: "NAME=FILE".
absl::StatusOr<ClusterConfig> FurtherCluster(const std::string& value) {
  const size_t end = value.find('=');
  if (end == 0 || end == value.npos || end + 1 == value.size()) {
    return Usage(StrCat("--cluster-kubeconfigs: \"", value,
                        "\" is not of the form NAME=FILE; use --cluster-kubeconfigs=leaf=FILE"));
  }
  auto cluster = LoadKubeconfig({value.substr(end + 1)});
  if (!cluster.ok()) {
    return Usage(StrCat("--cluster-kubeconfigs: ", AsStd(cluster.status().message())));
  }
  cluster->name = value.substr(0, end);
  return cluster;
}

}  // namespace

void DeclareClusters(CLI::App& app, ClusterFlags& flags) {
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "Kubeconfig with the cluster and base's credential. Default: $KUBECONFIG, or the "
                 "pod's ServiceAccount.")
      ->type_name("FILE");
  app.add_option("--cluster-kubeconfigs", flags.further,
                 "Kubeconfigs of further clusters that components of this program are in, with "
                 "base's credential there.")
      ->delimiter(',')
      ->type_name("NAME=FILE,...");
}

absl::Status ResolveClusters(const ClusterFlags& flags,
                             const std::vector<ComponentSpec>& components,
                             ManagerOptions& options) {
  ASSIGN_OR_RETURN(options.cluster, OwnCluster(flags.kubeconfig));
  for (const std::string& value : flags.further) {
    ASSIGN_OR_RETURN(ClusterConfig cluster, FurtherCluster(value));
    options.clusters.push_back(std::move(cluster));
  }
  for (const ComponentSpec& component : components) {
    if (component.cluster.empty() ||
        std::ranges::any_of(options.clusters, [&](const ClusterConfig& cluster) {
          return cluster.name == component.cluster;
        })) {
      continue;
    }
    return Usage(StrCat("--cluster-kubeconfigs: component ", component.mandate->component,
                        " is in cluster \"", component.cluster, "\"; add ", component.cluster,
                        "=FILE, or disable it with --controllers=*,-",
                        component.mandate->component));
  }
  return absl::OkStatus();
}

}  // namespace mandate
