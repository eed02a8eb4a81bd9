// Changes of JSON documents: how a change of the members that a type knows applies to the whole
// document, and the JSON Patch (RFC 6902) from one document to another.
#pragma once

#include <jsoncpp/json/json.h>

namespace mandate {

// `whole` after the change from `before` to `after`, which are what a type knows of it. Members of
// `whole` that neither has stay, also in the elements of arrays: an element keeps its unknown
// members if it is unchanged, is changed in place, or has the same "name" as before.
Json::Value ApplyTypedChange(const Json::Value& whole, const Json::Value& before,
                             const Json::Value& after);

// The operations that turn `from` into `to`, an array that is empty if they are equal. Only add,
// remove and replace are used. The same documents give the same patch.
Json::Value DiffToJsonPatch(const Json::Value& from, const Json::Value& to);

}  // namespace mandate
