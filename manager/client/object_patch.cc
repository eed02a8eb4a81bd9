#include "manager/client/object_patch.h"

#include "manager/client/object_meta.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

absl::StatusOr<std::string> VersionOf(const google::protobuf::Message& read) {
  const std::string& version = MetadataOf(read).resourceversion();
  if (!version.empty()) return version;
  return absl::InvalidArgumentError(
      StrCat("the ", read.GetDescriptor()->name(),
             " to patch has no resourceVersion: read it from the server, or use Unconditional()"));
}

}  // namespace

absl::StatusOr<MergePatch> MergePatch::IfUnchanged(const google::protobuf::Message& read,
                                                   std::string_view json) {
  ASSIGN_OR_RETURN(std::string version, VersionOf(read));
  ASSIGN_OR_RETURN(Json::Value patch, ParseJson(json));
  const Json::Value* metadata = FindMember(patch, "metadata");
  if (!patch.isObject() || (metadata != nullptr && !metadata->isObject())) {
    return absl::InvalidArgumentError("a merge patch, and its metadata, must be JSON objects");
  }
  patch["metadata"]["resourceVersion"] = std::move(version);
  return MergePatch(WriteJson(patch));
}

absl::StatusOr<JsonPatch> JsonPatch::IfUnchanged(const google::protobuf::Message& read,
                                                 std::string_view json) {
  ASSIGN_OR_RETURN(std::string version, VersionOf(read));
  ASSIGN_OR_RETURN(Json::Value patch, ParseJson(json));
  if (!patch.isArray()) return absl::InvalidArgumentError("a JSON patch must be an array");
  // The server compares the resourceVersion of the patched object. A failed "test" would be 422.
  Json::Value condition;
  condition["op"] = "replace";
  condition["path"] = "/metadata/resourceVersion";
  condition["value"] = std::move(version);
  patch.append(std::move(condition));
  return JsonPatch(WriteJson(patch));
}

}  // namespace mandate
