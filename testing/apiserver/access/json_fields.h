// Reads optional members of JSON objects.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json.h"

namespace mandate::apiserver {

// The member's value; null if it is absent.
inline const Json::Value& Member(const Json::Value& json, std::string_view key) {
  const Json::Value* found = FindMember(json, key);
  return found != nullptr ? *found : Json::Value::nullSingleton();
}

// The strings of a list; empty if the list is absent.
inline std::vector<std::string> Texts(const Json::Value& json, std::string_view key) {
  std::vector<std::string> list;
  for (const Json::Value& one : Member(json, key)) {
    if (one.isString()) list.push_back(one.asString());
  }
  return list;
}

inline Json::Value JsonList(const std::vector<std::string>& values) {
  Json::Value list(Json::arrayValue);
  for (const std::string& value : values) list.append(value);
  return list;
}

}  // namespace mandate::apiserver
