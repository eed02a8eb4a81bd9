// A strict wrapper of jsoncpp, for unstructured objects.
//
// jsoncpp's own reader accepts comments, duplicate keys and trailing garbage and throws on deep
// nesting; its writer rounds doubles. So this room uses only its tree, and reads with JsonCursor.
// Json::Value throws when it is asked for the wrong type: test isString() and the like first.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/json_cursor.h"

namespace mandate {

// kInvalidArgument with line and column for anything that RFC 8259 does not allow, for duplicate
// keys, for numbers out of range, for more than the limits.
absl::StatusOr<Json::Value> ParseJson(std::string_view text,
                                      const JsonLimits& limits = {.max_depth = kMaxRecursion});

// Compact, keys sorted; integers stay integers, doubles are the shortest text that reads back.
// The inverse of ParseJson. NaN and infinities, which JSON lacks, become null.
std::string WriteJson(const Json::Value& value);

// A member of an object; nullptr when `value` is not an object or does not have it. Never throws.
const Json::Value* FindMember(const Json::Value& value, std::string_view key);

}  // namespace mandate
