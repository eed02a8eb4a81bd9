// The flags of a program that runs components.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/program/program.h"
#include "manager/manager.h"

namespace mandate {

struct Flags {
  ManagerOptions manager;
  std::vector<ComponentSpec> components;  // the enabled components
  bool exit_now = false;                  // --help or --version was answered
  bool allow_core_dumps = false;
};

// Also reads the kubeconfig and the certificate files, and fills in the settings that
// `program.components` got. kInvalidArgument, with one line that names the flag, the reason and the
// command that prints help.
absl::StatusOr<Flags> ParseFlags(const Program& program, int argc, char** argv);

// Like kube-controller-manager's --controllers: '*' enables all components, 'foo' enables foo,
// '-foo' disables it. A name takes precedence over '*'. kInvalidArgument for a name that is not in
// `known`.
absl::StatusOr<std::vector<std::string>> SelectControllers(const std::vector<std::string>& patterns,
                                                           const std::vector<std::string>& known);

}  // namespace mandate
