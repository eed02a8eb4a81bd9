// The body of a PATCH: its type, and its application to an object.
#pragma once

#include <jsoncpp/json/json.h>

#include "absl/status/statusor.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// 415 for a content type other than a patch's, 501 for a strategic merge patch.
absl::Status CheckPatchType(const Request& request, const ResourceType& type);

// Parses a JSON patch, a merge patch, or the configuration of an apply, by the content type. 501
// for YAML that is not JSON, 400 for an invalid body.
absl::StatusOr<Json::Value> ReadPatch(const Request& request, const ResourceType& type);

// The 422 of a patch that cannot be applied, with the cause `why`.
absl::Status BadPatch(const Json::Value& result, const absl::Status& why);

// Applies a JSON or merge patch. 422 if it does not fit the object, or if the result does not fit
// its kind. Sets `given` to the result including unknown members.
absl::StatusOr<Json::Value> PatchObject(const Request& request, const Json::Value& object,
                                        const Json::Value& patch, const ResourceType& type,
                                        Json::Value* given);

}  // namespace mandate::apiserver
