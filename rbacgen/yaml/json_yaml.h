// Converts JSON to YAML.
#ifndef RBACGEN_YAML_JSON_YAML_H_
#define RBACGEN_YAML_JSON_YAML_H_

#include "manager/object/json.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

Yaml JsonAsYaml(const Json::Value& value);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_YAML_JSON_YAML_H_
