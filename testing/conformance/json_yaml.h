// Converts YAML to JSON.
#pragma once

#include <jsoncpp/json/json.h>
#include <yaml-cpp/yaml.h>

namespace mandate::conformance {

// YAML 1.2's core schema: plain scalars may be null, booleans, integers and floats, quoted ones are
// strings. Keys are strings.
Json::Value ToJson(const YAML::Node& node);

}  // namespace mandate::conformance
