#include "rbacgen/crd/json_yaml.h"

#include <string>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::rbacgen {
namespace {

std::string_view TypeOf(const Json::Value& value) {
  switch (value.type()) {
    case Json::nullValue:
      return "null";
    case Json::intValue:
    case Json::uintValue:
      return "integer";
    case Json::realValue:
      return "number";
    case Json::stringValue:
      return "string";
    case Json::booleanValue:
      return "boolean";
    case Json::arrayValue:
      return "array";
    case Json::objectValue:
      break;
  }
  return "object";
}

Yaml AsYaml(const Json::Value& value) {
  if (value.isString()) return value.asString();
  if (value.isArray()) {
    Yaml::List list;
    for (const Json::Value& item : value) list.push_back(AsYaml(item));
    return list;
  }
  if (value.isObject()) {
    Yaml::Map map;
    for (const std::string& name : value.getMemberNames()) map[name] = AsYaml(value[name]);
    return map;
  }
  return Yaml::Verbatim(WriteJson(value));
}

}  // namespace

absl::StatusOr<Yaml> JsonAsYaml(std::string_view text, std::string_view type) {
  ASSIGN_OR_RETURN(const Json::Value value, ParseJson(text));
  if (!type.empty() && TypeOf(value) != type) {
    return absl::InvalidArgumentError(
        StrCat("is JSON of type ", TypeOf(value), "; the field's type is ", type));
  }
  return AsYaml(value);
}

}  // namespace mandate::rbacgen
