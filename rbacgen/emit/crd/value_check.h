// Checks the values in options, such as defaults, against their schema, because the API server
// rejects a definition with an invalid default.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json.h"
#include "rbacgen/emit/crd/schema_node.h"

namespace mandate::rbacgen {

// The mistakes in the value, each after ": " or a path: "is JSON of type string; …", ".port: is
// more than maximum 3". CEL rules are not evaluated.
std::vector<std::string> CheckValue(const Json::Value& value, const SchemaNode& node);

// Whether the API server (1.36) checks this format of a type.
bool IsKnownFormat(std::string_view format, std::string_view type);

}  // namespace mandate::rbacgen
