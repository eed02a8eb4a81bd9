// Merges and removes fields by path, as server-side apply does.
#pragma once

#include <jsoncpp/json/json.h>

#include "testing/apiserver/field_set.h"
#include "testing/apiserver/shape.h"

namespace mandate::apiserver {

// `live` with the values of `wanted`: list items are matched by their keys, members by their names,
// and all other values are replaced. The items of `wanted` have its order.
Json::Value MergeFields(const Json::Value& live, const Json::Value& wanted, const Shape& shape);

// `value` without the paths in `removed`, except for those that, or a part of which, `kept` has.
Json::Value RemoveFields(Json::Value value, const FieldSet& removed, const FieldSet& kept,
                         const Shape& shape);

}  // namespace mandate::apiserver
