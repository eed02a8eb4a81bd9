// Writes mandates as a C++ header of constants (manager/rbac/mandate.h).
#ifndef RBACGEN_EMIT_HEADER_WRITER_H_
#define RBACGEN_EMIT_HEADER_WRITER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// The name of a component's constant: "kScopeInstance" for "scope-instance".
std::string ConstantName(std::string_view component);

// The complete header, to be included as `include_path`. InvalidArgument if two components would
// have the same constant.
absl::StatusOr<std::string> WriteHeader(const std::vector<ComponentMandate>& mandates,
                                        std::string_view include_path);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_HEADER_WRITER_H_
