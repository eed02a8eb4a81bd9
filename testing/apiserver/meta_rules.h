// What every object's metadata must satisfy (apimachinery's ValidateObjectMeta and its update).
#ifndef TESTING_APISERVER_META_RULES_H_
#define TESTING_APISERVER_META_RULES_H_

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/apiserver/errors.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// The words for a name that the kind does not allow; "" when it does.
std::string NameProblem(const ResourceType& type, std::string_view name);

// The same of a label's key, which is an annotation's too, and of its value.
std::string LabelKeyProblem(std::string_view key);
std::string LabelValueProblem(std::string_view value);

// Leaves the first of owner references that are the same; the uids of the others.
std::vector<std::string> DropRepeatedOwners(Json::Value& object);

// What is wrong with the name and the generateName.
std::vector<Cause> CheckNames(const ResourceType& type, const Json::Value& object);
// Whether they are looked at again when the object is updated.
bool ChecksNamesOnUpdate(const ResourceType& type);
std::vector<Cause> CheckMeta(const ResourceType& type, const Json::Value& object);
// What is told to who writes a custom resource with new finalizers that have no domain.
std::vector<std::string> FinalizerWarnings(const ResourceType& type, const Json::Value& object,
                                           const Json::Value& old);
std::vector<Cause> CheckMetaUpdate(const Json::Value& object, const Json::Value& old);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_META_RULES_H_
