// Runs a program to its end and takes what it prints.
#ifndef MANAGER_KUBECONFIG_CHILD_PROCESS_H_
#define MANAGER_KUBECONFIG_CHILD_PROCESS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"

namespace mandate {

struct ChildOptions {
  // The program, looked for in $PATH when it has no slash, and its arguments. No shell.
  std::string command = {};
  std::vector<std::string> args = {};
  // Beside the process's own variables, before which they come.
  std::vector<std::pair<std::string, std::string>> env = {};
  size_t max_output = 1 << 20;   // bytes; more is kResourceExhausted
  size_t max_errors = 64 << 10;  // bytes; what comes later is dropped
};

struct ChildResult {
  int code = 0;  // its exit code; 128 and the signal's number when a signal ended it
  std::string output = {};
  std::string errors = {};
};

// Blocks: not on the loop. The child has a process group of its own, no input, default signals, and
// none of our descriptors. When `context` ends it is killed, with its group; what it started there
// and left behind lives on otherwise.
//
// kNotFound, kPermissionDenied: the program cannot be run, with the reason; kDeadlineExceeded,
// kCancelled; kResourceExhausted: it printed too much; kUnavailable: the machine has no room for
// it.
absl::StatusOr<ChildResult> RunChild(const CallContext& context, const Clock& clock,
                                     const ChildOptions& options);

using ChildRunner = std::function<absl::StatusOr<ChildResult>(const CallContext& context,
                                                              const ChildOptions& options)>;

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_CHILD_PROCESS_H_
