// The body of a PATCH: which kind of patch it is, and what it makes of an object.
#ifndef TESTING_APISERVER_PATCH_BODY_H_
#define TESTING_APISERVER_PATCH_BODY_H_

#include <jsoncpp/json/json.h>

#include "absl/status/statusor.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// 415 for a content type that is no patch's, 501 for a strategic merge patch.
absl::Status CheckPatchType(const Request& request, const ResourceType& type);

// A JSON patch, a merge patch, or the configuration of an apply, by the content type: 501 for YAML
// that is not JSON, 400 for what cannot be read.
absl::StatusOr<Json::Value> ReadPatch(const Request& request, const ResourceType& type);

// The 422 of a patch whose result cannot be had, as `why` says.
absl::Status BadPatch(const Json::Value& result, const absl::Status& why);

// A JSON or merge patch, applied. 422 when it does not fit the object, or the result not its kind.
// `given` gets the result with members that the kind does not have.
absl::StatusOr<Json::Value> PatchObject(const Request& request, const Json::Value& object,
                                        const Json::Value& patch, const ResourceType& type,
                                        Json::Value* given);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_PATCH_BODY_H_
