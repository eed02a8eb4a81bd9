#include "rbacgen/yaml/json_yaml.h"

#include <string>

namespace mandate::rbacgen {

Yaml JsonAsYaml(const Json::Value& value) {
  if (value.isString()) return value.asString();
  if (value.isArray()) {
    Yaml::List list;
    for (const Json::Value& item : value) list.push_back(JsonAsYaml(item));
    return list;
  }
  if (value.isObject()) {
    Yaml::Map map;
    for (const std::string& name : value.getMemberNames()) map[name] = JsonAsYaml(value[name]);
    return map;
  }
  return Yaml::Verbatim(WriteJson(value));
}

}  // namespace mandate::rbacgen
