// JSON text of an option, such as a default, as YAML.
#ifndef RBACGEN_CRD_JSON_YAML_H_
#define RBACGEN_CRD_JSON_YAML_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "rbacgen/yaml.h"

namespace mandate::rbacgen {

// kInvalidArgument if it is no JSON, or not of the schema type ("" is any; null is of none).
absl::StatusOr<Yaml> JsonAsYaml(std::string_view text, std::string_view type);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CRD_JSON_YAML_H_
