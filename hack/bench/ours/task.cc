#include "hack/bench/ours/task.h"

#include <cstdio>

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"

namespace mandate::bench {

absl::Status ParseFlag(std::string_view argument, const Numbers& numbers, std::string& kubeconfig) {
  const size_t equals = argument.find('=');
  const std::string name(argument.substr(0, equals));
  const std::string value(equals == argument.npos ? "" : argument.substr(equals + 1));
  if (const auto number = numbers.find(name); number != numbers.end()) {
    if (absl::SimpleAtoi(value, number->second)) return absl::OkStatus();
  } else if (name == "--kubeconfig") {
    kubeconfig = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat("unknown flag ", argument));
}

absl::Status RunTask(const Tasks& tasks, int argc, char** argv) {
  const auto task = tasks.find(argc > 1 ? argv[1] : "");
  if (task == tasks.end()) return absl::InvalidArgumentError("there is no task of this name");
  return task->second();
}

int Exit(std::string_view program, const absl::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(),
                 std::string(status.message()).c_str());
  }
  return status.ok() ? 0 : 1;
}

}  // namespace mandate::bench
