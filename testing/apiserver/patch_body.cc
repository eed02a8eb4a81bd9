#include "testing/apiserver/patch_body.h"

#include <string>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/patch.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_io.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/write_query.h"

namespace mandate::apiserver {
namespace {

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kApplyPatch[] = "application/apply-patch+yaml";

// What follows "cannot be handled as a X: " in the error of a kind.
std::string WhyUnreadable(const absl::Status& status) {
  const std::string_view message = AsStd(status.message());
  const size_t colon = message.find("cannot be handled as a ");
  const size_t why = colon == message.npos ? message.npos : message.find(": ", colon);
  return std::string(why == message.npos ? message : message.substr(why + 2));
}

// A 422 that does not say why.
absl::Status Rejected() {
  ApiStatusProto status = *ApiStatus(
      ApiErrorOf(422, "Invalid", "the server rejected our request due to an error in our request"));
  status.mutable_details();
  return StatusFromApi(status);
}

// The server's library adds what is to be replaced and is not there.
absl::StatusOr<Json::Value> ApplyOperations(Json::Value object, const Json::Value& patch) {
  for (const Json::Value& operation : patch) {
    Json::Value one(Json::arrayValue);
    one.append(operation);
    absl::StatusOr<Json::Value> result = ApplyJsonPatch(object, one);
    if (!result.ok() && StringAt(operation, "op") == "replace") {
      one[0]["op"] = "add";
      result = ApplyJsonPatch(object, one);
    }
    if (!result.ok()) return result;
    object = *std::move(result);
  }
  return object;
}

absl::StatusOr<Json::Value> ReadConfiguration(const Request& request, const ResourceType& type) {
  absl::StatusOr<Json::Value> config = ParseJson(request.body);
  if (!config.ok()) {
    return Unsupported(StrCat("applied configurations that are not JSON (",
                              AsStd(config.status().message()), ")"));
  }
  const std::string api_version = StringAt(*config, "apiVersion");
  const std::string kind = StringAt(*config, "kind");
  if (api_version != type.ApiVersion() || kind != type.kind) {
    const size_t slash = api_version.find('/');
    const std::string group_version = slash == api_version.npos ? "/" + api_version : api_version;
    return BadRequest(StrCat("invalid object type: ", group_version, ", Kind=", kind));
  }
  if (FindMember(MetadataOf(*config), "managedFields") != nullptr) {
    return BadRequest("metadata.managedFields must be nil");
  }
  return config;
}

}  // namespace

absl::StatusOr<Json::Value> ReadPatch(const Request& request, const ResourceType& type) {
  const std::string content_type = ContentTypeOf(request);
  if (content_type == kApplyPatch) return ReadConfiguration(request, type);
  if (content_type == "application/strategic-merge-patch+json") {
    if (!type.custom()) return Unsupported("strategic merge patches");
    return UnsupportedMediaType(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
  }
  if (content_type != kJsonPatch && content_type != kMergePatch) return UnsupportedPatchType();
  absl::StatusOr<Json::Value> patch = ParseJson(request.body);
  if (!patch.ok()) {
    return BadRequest(StrCat("error decoding patch: ", AsStd(patch.status().message())));
  }
  if (content_type == kMergePatch && !patch->isObject()) {
    return BadRequest(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}");
  }
  return patch;
}

absl::StatusOr<Json::Value> PatchObject(const Request& request, const Json::Value& object,
                                        const Json::Value& patch, const ResourceType& type,
                                        Json::Value* given) {
  Json::Value result;
  if (ContentTypeOf(request) == kMergePatch) {
    result = ApplyMergePatch(object, patch);
  } else {
    if (!patch.isArray()) return BadRequest("error decoding patch: a JSON patch is an array");
    absl::StatusOr<Json::Value> patched = ApplyOperations(object, patch);
    if (!patched.ok() || !patched->isObject()) return Rejected();
    result = *std::move(patched);
  }
  *given = result;
  absl::StatusOr<Json::Value> normal = Normalise(result, type);
  if (normal.ok()) return normal;
  return InvalidError(
      "", "", "",
      {InvalidField("patch", rbac::Quote(WriteJson(result)), WhyUnreadable(normal.status()))});
}

}  // namespace mandate::apiserver
