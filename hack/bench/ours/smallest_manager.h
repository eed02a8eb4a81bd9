// The options of the smallest manager, as the peer's: it has no leader election, and serves health
// and metrics.
#ifndef HACK_BENCH_OURS_SMALLEST_MANAGER_H_
#define HACK_BENCH_OURS_SMALLEST_MANAGER_H_

#include <string>

#include "absl/status/statusor.h"
#include "manager/manager.h"

namespace mandate::bench {

// An error names the part of the kubeconfig that is invalid.
absl::StatusOr<ManagerOptions> SmallestManager(const std::string& kubeconfig);

}  // namespace mandate::bench

#endif  // HACK_BENCH_OURS_SMALLEST_MANAGER_H_
