// The metadata of an object in JSON. Nothing here throws, whatever the object looks like.
#ifndef TESTING_APISERVER_OBJECT_META_H_
#define TESTING_APISERVER_OBJECT_META_H_

#include <jsoncpp/json/json.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::apiserver {

// A member that is a string; "" otherwise.
std::string StringAt(const Json::Value& value, std::string_view key);
// The object's metadata; an empty object when it has none.
const Json::Value& MetadataOf(const Json::Value& object);
// A string of the metadata; "" when it is absent.
std::string MetaString(const Json::Value& object, std::string_view key);
int64_t GenerationOf(const Json::Value& object);
std::map<std::string, std::string> LabelsOf(const Json::Value& object);
std::vector<std::string> FinalizersOf(const Json::Value& object);
bool IsDeleting(const Json::Value& object);

// Makes metadata an object if it is none.
Json::Value& MutableMetadata(Json::Value& object);

// The object without apiVersion, kind, metadata and status: what generation counts.
Json::Value ContentOf(const Json::Value& object);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_OBJECT_META_H_
