// The flags of the clusters: the manager's own, and further ones.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "manager/component.h"
#include "manager/manager.h"

namespace mandate {

struct ClusterFlags {
  std::string kubeconfig = {};
  std::vector<std::string> further = {};  // "NAME=FILE"
};

// --kubeconfig and --cluster-kubeconfigs. `flags` outlives the app.
void DeclareClusters(CLI::App& app, ClusterFlags& flags);

// Reads the files, and sets the clusters of `options`. Each cluster that one of `components` is in
// must be among them. kInvalidArgument names the flag.
absl::Status ResolveClusters(const ClusterFlags& flags,
                             const std::vector<ComponentSpec>& components, ManagerOptions& options);

}  // namespace mandate
