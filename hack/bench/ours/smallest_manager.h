// The options of the smallest manager, as the peer's: it has no leader election, and serves health
// and metrics.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "manager/manager.h"

namespace mandate::bench {

// An error names the part of the kubeconfig that is invalid.
absl::StatusOr<ManagerOptions> SmallestManager(const std::string& kubeconfig);

}  // namespace mandate::bench
