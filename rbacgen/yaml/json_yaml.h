// Converts JSON to YAML.
#pragma once

#include "manager/object/json.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

Yaml JsonAsYaml(const Json::Value& value);

}  // namespace mandate::rbacgen
