// The typed calls that a binary contains, from the notes that they leave in it
// (manager/client/call_record.h).
#ifndef RBACGEN_CALLS_COMPILED_CALLS_H_
#define RBACGEN_CALLS_COMPILED_CALLS_H_

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

// "component scope-instance may need create of rolebindings in rbac.authorization.k8s.io".
struct CompiledCall {
  std::string component;  // "*" is each
  std::string verb;
  std::string group;  // "" is core
  std::string resource;
  std::string subresource;  // "" without one

  auto operator<=>(const CompiledCall&) const = default;
};

// Of the file at `path`: an ELF executable, shared library or object, for a 64-bit machine of this
// one's byte order. Sorted, each once; none if it has no typed calls. kUnavailable: it cannot be
// read; kInvalidArgument: it is not such a file, or its notes are damaged.
absl::StatusOr<std::vector<CompiledCall>> ReadCompiledCalls(const std::string& path);

// The same of a file's bytes.
absl::StatusOr<std::vector<CompiledCall>> ParseCompiledCalls(std::string_view elf);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CALLS_COMPILED_CALLS_H_
