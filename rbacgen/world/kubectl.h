// What kubectl says: it knows every way to a cluster that the user's kubeconfig may name.
#ifndef RBACGEN_WORLD_KUBECTL_H_
#define RBACGEN_WORLD_KUBECTL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

struct KubectlOptions {
  std::string program = "kubectl";
  std::string kubeconfig;  // empty: kubectl's own choice
  std::string context;     // empty: the current one
};

// The standard output of `kubectl ARGUMENTS`; what it says on standard error goes there. NotFound
// if there is no such program, Unavailable if it does not exit 0.
absl::StatusOr<std::string> Kubectl(const KubectlOptions& options,
                                    const std::vector<std::string>& arguments);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_KUBECTL_H_
