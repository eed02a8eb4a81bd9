// Validates metadata (apimachinery's ValidateObjectMeta and ValidateObjectMetaUpdate).
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/apiserver/errors.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// The message for a name that the kind does not allow; "" if it is valid.
std::string NameProblem(const ResourceType& type, std::string_view name);

// The same for the key of a label or annotation, and for the value of a label.
std::string LabelKeyProblem(std::string_view key);
std::string LabelValueProblem(std::string_view value);

// Removes repeated owner references, and returns the uids of the removed ones.
std::vector<std::string> DropRepeatedOwners(Json::Value& object);

// Validates the name and the generateName.
std::vector<Cause> CheckNames(const ResourceType& type, const Json::Value& object);
// Whether an update validates them again.
bool ChecksNamesOnUpdate(const ResourceType& type);
std::vector<Cause> CheckMeta(const ResourceType& type, const Json::Value& object);
// The warnings for new finalizers without a domain in a custom resource.
std::vector<std::string> FinalizerWarnings(const ResourceType& type, const Json::Value& object,
                                           const Json::Value& old);
std::vector<Cause> CheckMetaUpdate(const Json::Value& object, const Json::Value& old);

}  // namespace mandate::apiserver
