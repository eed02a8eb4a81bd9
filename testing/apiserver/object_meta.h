// Reads the metadata of a JSON object. No function throws for any object.
#pragma once

#include <jsoncpp/json/json.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::apiserver {

// The member if it is a string, otherwise "".
std::string StringAt(const Json::Value& value, std::string_view key);
// The object's metadata; an empty object if it is absent.
const Json::Value& MetadataOf(const Json::Value& object);
// A string of the metadata; "" if it is absent.
std::string MetaString(const Json::Value& object, std::string_view key);
int64_t GenerationOf(const Json::Value& object);
std::map<std::string, std::string> LabelsOf(const Json::Value& object);
std::vector<std::string> FinalizersOf(const Json::Value& object);
bool IsDeleting(const Json::Value& object);

// Replaces metadata by an empty object if it is not an object.
Json::Value& MutableMetadata(Json::Value& object);

// The object without apiVersion, kind, metadata and status. metadata.generation counts the changes
// of the rest.
Json::Value ContentOf(const Json::Value& object);

}  // namespace mandate::apiserver
