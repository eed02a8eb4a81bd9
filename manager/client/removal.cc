#include "manager/client/removal.h"

#include <algorithm>
#include <utility>

#include "manager/client/object_meta.h"
#include "manager/core/status_macros.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_plan.h"

namespace mandate {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Whether the type has the path: only then does the object's JSON show whether the object has it.
bool IsKnown(const MessagePlan& type, const std::vector<std::string>& path) {
  const MessagePlan* at = &type;
  for (size_t i = 0; i < path.size(); ++i) {
    if (at == nullptr || at->hook != JsonHook::kNone) return true;  // shown completely
    const auto member = at->members.find(path[i]);
    if (member == at->members.end()) return false;
    const FieldPlan& target = *member->second.target;
    if (target.field->is_map()) ++i;
    at = target.message;
  }
  return true;
}

bool HasAt(const Json::Value& object, const std::vector<std::string>& path) {
  const Json::Value* at = &object;
  for (const std::string& name : path) {
    if (!at->isObject() || !at->isMember(name)) return false;
    at = &(*at)[name];
  }
  return true;
}

// Null at `path`, with the objects that lead there.
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

// Lists are replaced as a whole; the condition on the resourceVersion makes that safe.
absl::Status RemoveItems(const ObjectMeta& metadata, const FieldsToRemove& removal,
                         Json::Value& patch) {
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
                                                       const FieldsToRemove& removal) {
  Json::Value patch(Json::objectValue);
  if (!removal.fields.empty()) {
    ASSIGN_OR_RETURN(const std::string json, ToJson(observed));
    ASSIGN_OR_RETURN(const Json::Value object, ParseJson(json));
    const MessagePlan* type = PlanOf(*observed.GetDescriptor());
    for (const auto& path : removal.fields) {
      if (!path.empty() && type != nullptr && IsKnown(*type, path) && !HasAt(object, path))
        continue;
      RETURN_IF_ERROR(Remove(path, patch));
    }
  }
  RETURN_IF_ERROR(RemoveItems(MetadataOf(observed), removal, patch));
  if (patch.empty()) return std::nullopt;
  return MergePatch::IfUnchanged(observed, WriteJson(patch));
}

}  // namespace mandate
