// Members of an object that its kind does not have.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Their sorted paths, "spec.parts[0].x". `given` is the object as it was sent.
std::vector<std::string> UnknownMembers(const Json::Value& given, const ResourceType& type);

// Applies the query parameter fieldValidation: adds a warning for each of them, or returns a 400.
absl::Status CheckMembers(const Json::Value& given, const ResourceType& type,
                          std::string_view validation, std::vector<std::string>& warnings);

}  // namespace mandate::apiserver
