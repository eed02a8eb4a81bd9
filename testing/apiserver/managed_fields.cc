#include "testing/apiserver/managed_fields.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/field_managers.h"
#include "testing/apiserver/field_merge.h"
#include "testing/apiserver/field_set.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

// The applied fields: the configuration without the fields that no client manages.
Json::Value Wanted(const Json::Value& config, const ResourceType& type, bool status) {
  Json::Value wanted = config;
  MutableMetadata(wanted).removeMember("managedFields");
  for (const std::string& name : config.getMemberNames()) {
    const bool typed = name == "apiVersion" || name == "kind";
    // An apply to the status of a built-in object can change metadata; for a custom object it
    // cannot.
    const bool kept = !status         ? name != "status" || !type.has_status
                      : type.custom() ? name == "status"
                                      : name == "status" || name == "metadata";
    if (typed || !kept) wanted.removeMember(name);
  }
  if (status && !type.custom() && type.kind != "Namespace")
    wanted["metadata"].removeMember("labels");
  if (MetadataOf(wanted).empty()) wanted.removeMember("metadata");
  return wanted;
}

// The object without the fields that no manager can have.
Json::Value Unstamped(Json::Value object) {
  if (object.isNull()) return object;
  object.removeMember("apiVersion");
  object.removeMember("kind");
  Json::Value& metadata = MutableMetadata(object);
  for (const char* field : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                            "generation", "managedFields", "resourceVersion"}) {
    metadata.removeMember(field);
  }
  if (metadata.empty()) object.removeMember("metadata");
  return object;
}

// The same, without the lists that Go writes for a built-in kind even if they are absent.
Json::Value Managed(const ResourceType& type, Json::Value object) {
  if (object.isNull()) return object;
  object = Unstamped(std::move(object));
  MutableMetadata(object);
  if (type.custom()) return object;
  for (const std::string& name : object.getMemberNames()) {
    if (object[name].isNull()) object.removeMember(name);
  }
  return object;
}

// Go writes some members of built-in kinds even if they are empty. Such a member still exists, so
// the manager that empties it has changed it.
void KeepEmptied(const Json::Value& live, const Json::Value& object, Json::Value& now) {
  for (const std::string& name : live.isObject() ? live.getMemberNames() : Json::Value::Members()) {
    const Json::Value* member = FindMember(object, name);
    if (member != nullptr && member->isNull() && !live[name].isNull()) now[name] = Json::Value();
  }
}

// Compares the objects without managedFields.
bool IsSame(Json::Value a, Json::Value b) {
  for (Json::Value* object : {&a, &b}) MutableMetadata(*object).removeMember("managedFields");
  return WriteJson(a) == WriteJson(b);
}

// Built-in kinds always have these members, so no manager adds them.
Json::Value WithStructs(Json::Value object, const ResourceType& type, const Json::Value& like) {
  if (object.isNull()) object = Json::Value(Json::objectValue);
  MutableMetadata(object);
  if (type.custom()) return object;
  for (const char* name : {"spec", "status"}) {
    const Json::Value* there = FindMember(like, name);
    if (there != nullptr && there->isObject() && !object.isMember(name)) {
      object[name] = Json::Value(Json::objectValue);
    }
  }
  return object;
}

// Whether the configuration changes fields outside of the applied subresource. The server compares
// the two objects first and restores these fields later.
bool SetsMore(const Json::Value& config, const ResourceType& type, const Json::Value& before,
              const Shape& shape) {
  if (!type.has_status) return false;
  Json::Value all = config;
  for (const char* name : {"apiVersion", "kind"}) all.removeMember(name);
  return !IsSame(MergeFields(before, all, shape), before);
}

struct Conflict {
  FieldManagerEntry with;
  std::string path;
};

// Groups `conflicts` by manager.
absl::Status ConflictStatus(const std::vector<Conflict>& conflicts) {
  ApiStatusProto status;
  for (const Conflict& conflict : conflicts) {
    auto* cause = status.mutable_details()->add_causes();
    cause->set_reason("FieldManagerConflict");
    cause->set_message("conflict with " + conflict.with.Readable());
    cause->set_field(conflict.path);
  }
  std::string message = StrCat("Apply failed with ", conflicts.size(),
                               conflicts.size() == 1 ? " conflict:" : " conflicts:");
  std::string last;
  for (const auto& [with, path] : conflicts) {
    const std::string identity = with.Identity();
    if (conflicts.size() == 1) {
      StrAppend(&message, " conflict with ", with.Readable(), ": ", path);
    } else if (identity != last) {
      StrAppend(&message, last.empty() ? " " : "\n", "conflicts with ", with.Readable(), ":");
    }
    if (conflicts.size() > 1) StrAppend(&message, "\n- ", path);
    last = identity;
  }
  status.set_status("Failure");
  status.set_code(409);
  status.set_reason("Conflict");
  status.set_message(message);
  return StatusFromApi(status);
}

}  // namespace

void TrackUpdate(const ResourceType& type, const Json::Value& live, const FieldManager& manager,
                 Json::Value& object) {
  if (!manager.typed) return WriteFieldManagers({}, object);
  FieldManagerEntries entries = FieldManagersOfUpdate(live, object, !manager.subresource.empty());
  // The fields of an object without managers get a manager only at the first apply.
  if (entries.empty() && !live.isNull()) return WriteFieldManagers({}, object);
  if (!KeepOwnVersions(type, entries)) return WriteFieldManagers({}, object);
  Json::Value now = Managed(type, object);
  if (!type.custom()) KeepEmptied(live, object, now);
  const FieldChanges changes = Compare(WithStructs(Managed(type, live), type, now),
                                       WithStructs(now, type, live), Shape::Of(type));
  for (FieldManagerEntry& entry : entries) {
    entry.fields = entry.fields.Minus(changes.removed).Minus(changes.changed);
  }
  if (!changes.changed.empty()) {
    FieldManagerEntry& own = FindOrAdd(entries, {.manager = manager.name,
                                                 .operation = "Update",
                                                 .api_version = type.ApiVersion(),
                                                 .subresource = manager.subresource,
                                                 .time = manager.now,
                                                 .fields = {}});
    own.fields = own.fields.Union(changes.changed);
    own.time = manager.now;
  }
  WriteFieldManagers(std::move(entries), object);
}

absl::StatusOr<Json::Value> ApplyConfiguration(const ResourceType& type, const Json::Value& live,
                                               const Json::Value& config,
                                               const FieldManager& manager, bool force) {
  const Json::Value wanted = Wanted(config, type, manager.subresource == "status");
  const Shape shape = Shape::Of(type);
  const FieldSet applied = FieldSet::Applied(Unstamped(wanted), shape);
  FieldManagerEntries entries = ReadFieldManagers(live).value_or(FieldManagerEntries());
  const FieldManagerEntry self{.manager = manager.name,
                               .operation = "Apply",
                               .api_version = type.ApiVersion(),
                               .subresource = manager.subresource,
                               .time = "",
                               .fields = {}};
  if (entries.empty() && !live.isNull()) {
    const Json::Value now = Managed(type, live);
    entries.push_back({.manager = "before-first-apply",
                       .operation = "Update",
                       .api_version = type.ApiVersion(),
                       .subresource = "",
                       .time = manager.now,
                       .fields = Compare(WithStructs(Json::Value(), type, now),
                                         WithStructs(now, type, Json::Value()), shape)
                                     .changed});
  }
  const Json::Value before = live.isNull() ? Json::Value(Json::objectValue) : live;
  Json::Value merged = MergeFields(before, wanted, shape);
  const FieldSet changed = Compare(Managed(type, before), Managed(type, merged), shape).changed;
  FieldSet last;
  FieldSet others;
  std::vector<Conflict> conflicts;
  // The message has the conflicts in this order.
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.Identity() < b.Identity(); });
  for (FieldManagerEntry& entry : entries) {
    if (entry.Identity() == self.Identity()) {
      last = entry.fields;
      continue;
    }
    const FieldSet both = entry.fields.Intersection(changed);
    for (const std::string& path : both.Paths()) conflicts.push_back({entry, path});
    entry.fields = entry.fields.Minus(both);
    others = others.Union(entry.fields);
  }
  if (!conflicts.empty() && !force) return ConflictStatus(conflicts);
  FieldSet kept = others.Union(applied);
  // No manager owns the name, but the name keeps metadata from being removed.
  if (config.isMember("metadata")) kept.children["f:metadata"].member = true;
  merged = RemoveFields(std::move(merged), last.Minus(applied), kept, shape);
  FieldManagerEntry& own = FindOrAdd(entries, self);
  // A write that changes only ownership does not set the entry's time.
  if (live.isNull() || !IsSame(merged, before) || SetsMore(config, type, before, shape)) {
    own.time = manager.now;
  }
  own.fields = applied;
  WriteFieldManagers(std::move(entries), merged);
  merged["apiVersion"] = type.ApiVersion();
  merged["kind"] = type.kind;
  return merged;
}

}  // namespace mandate::apiserver
