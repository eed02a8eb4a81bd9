// Converts YAML to JSON.
#ifndef TESTING_CONFORMANCE_JSON_YAML_H_
#define TESTING_CONFORMANCE_JSON_YAML_H_

#include <jsoncpp/json/json.h>
#include <yaml-cpp/yaml.h>

namespace mandate::conformance {

// YAML 1.2's core schema: plain scalars may be null, booleans, integers and floats, quoted ones are
// strings. Keys are strings.
Json::Value ToJson(const YAML::Node& node);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_JSON_YAML_H_
