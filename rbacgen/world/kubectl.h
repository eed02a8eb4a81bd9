// Runs kubectl, which supports every credential and connection that a kubeconfig can have.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

struct KubectlOptions {
  std::string program = "kubectl";
  std::string kubeconfig;  // empty: kubectl's default
  std::string context;     // empty: the current context
};

// The standard output of `kubectl ARGUMENTS`; its standard error is not redirected. NotFound if the
// program does not exist, Unavailable if its exit code is not 0.
absl::StatusOr<std::string> Kubectl(const KubectlOptions& options,
                                    const std::vector<std::string>& arguments);

}  // namespace mandate::rbacgen
