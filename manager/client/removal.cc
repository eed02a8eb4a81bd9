#include "manager/client/removal.h"

#include <algorithm>
#include <utility>

#include "manager/client/object_meta.h"
#include "manager/core/status_macros.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"

namespace mandate {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Null at `path`, and objects on the way there.
absl::Status Remove(const std::vector<std::string>& path, Json::Value& patch) {
  if (path.empty()) return absl::InvalidArgumentError("the path of a field to remove is empty");
  Json::Value* at = &patch;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (at->isMember(path[i]) && !(*at)[path[i]].isObject()) return absl::OkStatus();
    at = &(*at)[path[i]];
    if (!at->isObject()) *at = Json::Value(Json::objectValue);
  }
  (*at)[path.back()] = Json::Value();
  return absl::OkStatus();
}

// Lists are replaced whole, which the condition on the resourceVersion makes safe.
absl::Status RemoveItems(const ObjectMeta& metadata, const Removal& removal, Json::Value& patch) {
  Json::Value finalizers(Json::arrayValue);
  for (const std::string& finalizer : metadata.finalizers()) {
    if (!Has(removal.finalizers, finalizer)) finalizers.append(finalizer);
  }
  if (static_cast<int>(finalizers.size()) < metadata.finalizers_size()) {
    patch["metadata"]["finalizers"] = std::move(finalizers);
  }
  Json::Value owners(Json::arrayValue);
  for (const auto& owner : metadata.ownerreferences()) {
    if (Has(removal.owner_uids, owner.uid())) continue;
    ASSIGN_OR_RETURN(const std::string json, ToJson(owner));
    ASSIGN_OR_RETURN(Json::Value kept, ParseJson(json));
    owners.append(std::move(kept));
  }
  if (static_cast<int>(owners.size()) < metadata.ownerreferences_size()) {
    patch["metadata"]["ownerReferences"] = std::move(owners);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<MergePatch>> RemovalPatch(const google::protobuf::Message& observed,
                                                       const Removal& removal) {
  Json::Value patch(Json::objectValue);
  for (const auto& path : removal.fields) RETURN_IF_ERROR(Remove(path, patch));
  RETURN_IF_ERROR(RemoveItems(MetadataOf(observed), removal, patch));
  if (patch.empty()) return std::nullopt;
  return MergePatch::Of(observed, WriteJson(patch));
}

}  // namespace mandate
