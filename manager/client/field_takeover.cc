#include "manager/client/field_takeover.h"

#include <string>
#include <utility>

#include "manager/client/object_meta.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"

namespace mandate {
namespace {

using Entry = k8s::io::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;

bool IsOf(const Entry& entry, std::string_view manager, std::string_view operation) {
  return entry.manager() == manager && entry.operation() == operation &&
         entry.subresource().empty();
}

// Adds the paths of a FieldsV1 to another one. A path with no path below it is {}; "." marks a path
// that is a member itself and also has paths below it.
void AddPaths(const Json::Value& more, Json::Value& set) {
  for (auto it = more.begin(); it != more.end(); ++it) {
    if (!set.isMember(it.name())) {
      set[it.name()] = *it;
      continue;
    }
    Json::Value& paths = set[it.name()];
    if (paths.empty() != it->empty()) paths["."] = Json::Value(Json::objectValue);
    AddPaths(*it, paths);
  }
}

absl::StatusOr<Json::Value> PathsOf(const Entry& entry) {
  ASSIGN_OR_RETURN(Json::Value paths, ParseJson(entry.fieldsv1().raw()));
  if (paths.isObject()) return paths;
  return absl::InvalidArgumentError(
      StrCat("metadata.managedFields: the fields of ", entry.manager(), " are not an object"));
}

// The index of the entry that will hold the result: the Apply entry, or else the newest Update
// entry. -1 if there is no Update entry: nothing to do.
int TargetOf(const ObjectMeta& metadata, std::string_view manager) {
  int apply = -1;
  int update = -1;
  for (int i = 0; i < metadata.managedfields_size(); ++i) {
    const Entry& entry = metadata.managedfields(i);
    if (IsOf(entry, manager, "Apply")) apply = i;
    if (!IsOf(entry, manager, "Update")) continue;
    const bool newer =
        update < 0 || entry.time().seconds() > metadata.managedfields(update).time().seconds();
    if (newer) update = i;
  }
  return update < 0 || apply < 0 ? update : apply;
}

}  // namespace

absl::StatusOr<std::optional<JsonPatch>> TakeoverPatch(const google::protobuf::Message& read,
                                                       std::string_view manager) {
  const ObjectMeta& metadata = MetadataOf(read);
  const int target = TargetOf(metadata, manager);
  if (target < 0) return std::nullopt;
  Entry merged = metadata.managedfields(target);
  ASSIGN_OR_RETURN(Json::Value paths, PathsOf(merged));
  for (int i = 0; i < metadata.managedfields_size(); ++i) {
    const Entry& entry = metadata.managedfields(i);
    const bool same = entry.apiversion() == merged.apiversion();
    if (i == target || !same || !IsOf(entry, manager, "Update")) continue;
    ASSIGN_OR_RETURN(const Json::Value more, PathsOf(entry));
    AddPaths(more, paths);
  }
  merged.set_operation("Apply");
  merged.mutable_fieldsv1()->set_raw(WriteJson(paths));

  std::string list;
  for (int i = 0; i < metadata.managedfields_size(); ++i) {
    const Entry& entry = i == target ? merged : metadata.managedfields(i);
    if (IsOf(entry, manager, "Update")) continue;
    ASSIGN_OR_RETURN(const std::string json, ToJson(entry));
    StrAppend(&list, list.empty() ? "" : ",", json);
  }
  return JsonPatch::IfUnchanged(
      read, StrCat(R"([{"op":"replace","path":"/metadata/managedFields","value":[)", list, "]}]"));
}

}  // namespace mandate
