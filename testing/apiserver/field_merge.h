// Merging and removing by places, as server-side apply does.
#ifndef TESTING_APISERVER_FIELD_MERGE_H_
#define TESTING_APISERVER_FIELD_MERGE_H_

#include <jsoncpp/json/json.h>

#include "testing/apiserver/field_set.h"
#include "testing/apiserver/shape.h"

namespace mandate::apiserver {

// `live` with what `wanted` says: items of a list by their keys, members by their names, all else
// as a whole. New items come after those that are there.
Json::Value MergeFields(const Json::Value& live, const Json::Value& wanted, const Shape& shape);

// `value` without the places in `removed`, unless they or what is below them are in `kept`.
Json::Value RemoveFields(Json::Value value, const FieldSet& removed, const FieldSet& kept,
                         const Shape& shape);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_FIELD_MERGE_H_
