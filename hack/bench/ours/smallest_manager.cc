#include "hack/bench/ours/smallest_manager.h"

#include "manager/core/status_macros.h"
#include "manager/kubeconfig/kubeconfig.h"

namespace mandate::bench {
namespace {

constexpr rbac::Mandate kBase = {"base", {}};

}  // namespace

absl::StatusOr<ManagerOptions> SmallestManager(const std::string& kubeconfig) {
  ManagerOptions options;
  ASSIGN_OR_RETURN(options.cluster, LoadKubeconfig({kubeconfig}));
  options.ns = options.cluster.ns;
  options.version = "bench";
  options.base_mandate = &kBase;
  options.leader_elect = false;
  options.guard = GuardMode::kOff;  // base has no marker for its token requests here
  options.health_address = "127.0.0.1:0";
  options.metrics_address = "127.0.0.1:0";
  return options;
}

}  // namespace mandate::bench
