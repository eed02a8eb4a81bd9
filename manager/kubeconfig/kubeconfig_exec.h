// The exec entry of a kubeconfig's user.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "manager/kubeconfig/exec_plugin.h"
#include "manager/kubeconfig/kubeconfig_file.h"
#include "manager/transport/transport.h"

namespace mandate {

// Reads the exec entry of `user` for `cluster`, whose endpoint is set. `user` must have an exec
// entry. kInvalidArgument and kUnimplemented (apiVersion v1alpha1, interactiveMode Always) begin
// with `origin` and never quote arguments or variables.
absl::StatusOr<ExecPlugin> ReadExecPlugin(const KubeconfigEntry& user, const std::string& origin,
                                          const KubeconfigEntry& cluster, const Endpoint& endpoint);

}  // namespace mandate
