// The typed calls that a binary contains, from the notes that they leave in it
// (manager/client/call_record.h).
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

// "component scope-instance may need create of rolebindings in rbac.authorization.k8s.io".
struct CompiledCall {
  std::string component;  // "*" is every component
  std::string verb;
  std::string group;  // "" is the core group
  std::string resource;
  std::string subresource;  // "" without one

  auto operator<=>(const CompiledCall&) const = default;
};

// The typed calls in the file at `path`, which must be an ELF executable, shared library or object
// for a 64-bit machine with the byte order of this one. Sorted, without duplicates; empty if the
// file has no typed calls. kUnavailable if the file cannot be read; kInvalidArgument if it is not
// such a file, or if its notes are damaged.
absl::StatusOr<std::vector<CompiledCall>> ReadCompiledCalls(const std::string& path);

// The same for the bytes of a file.
absl::StatusOr<std::vector<CompiledCall>> ParseCompiledCalls(std::string_view elf);

}  // namespace mandate::rbacgen
