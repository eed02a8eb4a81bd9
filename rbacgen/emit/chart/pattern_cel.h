// The patterns of fences (rbacgen/markers/fence.h) as expressions in CEL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

// A CEL string literal.
std::string CelLiteral(std::string_view text);

// A CEL expression: whether `text`, itself an expression, matches the patterns.
std::string PatternsCel(const std::vector<std::string>& patterns, std::string_view text);

// A CEL expression: whether the roleRef of `object` matches the patterns "name", "Role/name" or
// "ClusterRole/name".
std::string RoleRefsCel(const std::vector<std::string>& patterns);

}  // namespace mandate::rbacgen
