// Runs a program to its end and collects its output.
#pragma once

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
  // The program and its arguments. Without a slash it is looked up in $PATH. No shell.
  std::string command = {};
  std::vector<std::string> args = {};
  // Variables in addition to the process's own. They override variables of the same name.
  std::vector<std::pair<std::string, std::string>> env = {};
  size_t max_output = 1 << 20;   // bytes; more is kResourceExhausted
  size_t max_errors = 64 << 10;  // bytes; what follows is dropped
};

struct ChildResult {
  int code = 0;  // its exit code; after a signal, 128 and the signal's number
  std::string output = {};
  std::string errors = {};
};

// Blocks: not on the loop. The child has its own process group, no input, default signals, and none
// of our descriptors. When `context` ends, the child and its group are killed. Otherwise processes
// that it started and left continue.
//
// kNotFound, kPermissionDenied: the program cannot be run, with the reason; kDeadlineExceeded,
// kCancelled; kResourceExhausted: its output is too large; kUnavailable: the machine lacks
// resources to run it.
absl::StatusOr<ChildResult> RunChild(const CallContext& context, const Clock& clock,
                                     const ChildOptions& options);

using ChildRunner = std::function<absl::StatusOr<ChildResult>(const CallContext& context,
                                                              const ChildOptions& options)>;

}  // namespace mandate
