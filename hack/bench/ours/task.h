// The tasks of a program of the benchmarks: PROGRAM TASK [--flag=value]…
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate::bench {

using Numbers = std::map<std::string, int*>;
using Tasks = std::map<std::string, std::function<absl::Status()>>;

// Parses "--name=number" for one of these names, and "--kubeconfig=path". kInvalidArgument: it is
// neither.
absl::Status ParseFlag(std::string_view argument, const Numbers& numbers, std::string& kubeconfig);

// Runs the task that the first argument names.
absl::Status RunTask(const Tasks& tasks, int argc, char** argv);

// Prints the error, if there is one. Returns the program's exit code.
int Exit(std::string_view program, const absl::Status& status);

}  // namespace mandate::bench
