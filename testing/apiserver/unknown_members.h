// Members of an object that its kind does not have.
#ifndef TESTING_APISERVER_UNKNOWN_MEMBERS_H_
#define TESTING_APISERVER_UNKNOWN_MEMBERS_H_

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Their paths, "spec.parts[0].x", in order; `given` as it was sent.
std::vector<std::string> UnknownMembers(const Json::Value& given, const ResourceType& type);

// As the query parameter fieldValidation asks: each of them is a warning, or all of them a 400.
absl::Status CheckMembers(const Json::Value& given, const ResourceType& type,
                          std::string_view validation, std::vector<std::string>& warnings);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_UNKNOWN_MEMBERS_H_
