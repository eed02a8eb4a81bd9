#include "testing/apiserver/managed_fields.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/field_merge.h"
#include "testing/apiserver/field_set.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

struct Entry {
  // Whose it is: all but what and when.
  auto Key() const { return std::tie(manager, operation, api_version, subresource); }

  std::string manager;
  std::string operation;  // "Apply", "Update"
  std::string api_version;
  std::string subresource;
  std::string time;
  FieldSet fields;
};
using Entries = std::vector<Entry>;

Entries ReadEntries(const Json::Value& object) {
  Entries entries;
  const Json::Value* list = FindMember(MetadataOf(object), "managedFields");
  if (list == nullptr || !list->isArray()) return entries;
  for (const Json::Value& one : *list) {
    const Json::Value* fields = FindMember(one, "fieldsV1");
    entries.push_back({.manager = StringAt(one, "manager"),
                       .operation = StringAt(one, "operation"),
                       .api_version = StringAt(one, "apiVersion"),
                       .subresource = StringAt(one, "subresource"),
                       .time = StringAt(one, "time"),
                       .fields = fields == nullptr ? FieldSet() : FieldSet::FromJson(*fields)});
  }
  return entries;
}

void WriteEntries(Entries entries, Json::Value& object) {
  std::erase_if(entries, [](const Entry& entry) { return entry.fields.empty(); });
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.operation, a.time, a.manager, a.api_version, a.subresource) <
           std::tie(b.operation, b.time, b.manager, b.api_version, b.subresource);
  });
  Json::Value& metadata = MutableMetadata(object);
  metadata.removeMember("managedFields");
  for (const Entry& entry : entries) {
    Json::Value out(Json::objectValue);
    out["manager"] = entry.manager;
    out["operation"] = entry.operation;
    out["apiVersion"] = entry.api_version;
    if (!entry.time.empty()) out["time"] = entry.time;
    out["fieldsType"] = "FieldsV1";
    out["fieldsV1"] = entry.fields.ToJson();
    if (!entry.subresource.empty()) out["subresource"] = entry.subresource;
    metadata["managedFields"].append(std::move(out));
  }
}

// The object without what nobody manages.
Json::Value Managed(Json::Value object) {
  if (object.isNull()) return object;
  object.removeMember("apiVersion");
  object.removeMember("kind");
  Json::Value& metadata = MutableMetadata(object);
  for (const char* field :
       {"name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields",
        "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    metadata.removeMember(field);
  }
  return object;
}

// Built-in kinds have these always, and so nobody adds them.
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

Entry& FindOrAdd(Entries& entries, const Entry& wanted) {
  for (Entry& entry : entries) {
    if (entry.Key() == wanted.Key()) return entry;
  }
  entries.push_back(wanted);
  return entries.back();
}

struct Conflict {
  std::string with;  // as people read the manager
  std::string path;
};

absl::Status ConflictStatus(const std::vector<Conflict>& conflicts) {
  std::map<std::string, std::vector<std::string>> by_manager;
  ApiStatusProto status;
  for (const Conflict& conflict : conflicts) {
    by_manager[conflict.with].push_back(conflict.path);
    auto* cause = status.mutable_details()->add_causes();
    cause->set_reason("FieldManagerConflict");
    cause->set_message("conflict with " + conflict.with);
    cause->set_field(conflict.path);
  }
  std::string message = StrCat("Apply failed with ", conflicts.size(),
                               conflicts.size() == 1 ? " conflict:" : " conflicts:");
  for (const auto& [with, paths] : by_manager) {
    StrAppend(&message, &with == &by_manager.begin()->first ? " " : "\n");
    if (conflicts.size() == 1) {
      StrAppend(&message, "conflict with ", with, ": ", paths[0]);
      continue;
    }
    StrAppend(&message, "conflicts with ", with, ":");
    for (const std::string& path : paths) StrAppend(&message, "\n- ", path);
  }
  status.set_status("Failure");
  status.set_code(409);
  status.set_reason("Conflict");
  status.set_message(message);
  return StatusFromApi(status);
}

std::string Readable(const Entry& entry) {
  std::string out = rbac::Quote(entry.manager);
  if (!entry.subresource.empty()) {
    StrAppend(&out, " with subresource ", rbac::Quote(entry.subresource));
  }
  if (entry.operation == "Update") StrAppend(&out, " using ", entry.api_version);
  return out;
}

}  // namespace

void TrackUpdate(const ResourceType& type, const Json::Value& live, const FieldManager& manager,
                 Json::Value& object) {
  Entries entries = ReadEntries(live);
  // What nobody managed before is managed by the first apply at the earliest.
  if (entries.empty() && !live.isNull()) return WriteEntries({}, object);
  const Json::Value now = Managed(object);
  const FieldChanges changes =
      Compare(WithStructs(Managed(live), type, now), WithStructs(now, type, live), Shape::Of(type));
  if (!changes.changed.empty() || !changes.removed.empty()) {
    Entry& own = FindOrAdd(entries, {.manager = manager.name,
                                     .operation = "Update",
                                     .api_version = type.ApiVersion(),
                                     .subresource = manager.subresource,
                                     .time = manager.now,
                                     .fields = {}});
    for (Entry& entry : entries) {
      entry.fields = entry.fields.Minus(changes.removed);
      if (&entry != &own) entry.fields = entry.fields.Minus(changes.changed);
    }
    own.fields = own.fields.Union(changes.changed);
    own.time = manager.now;
  }
  WriteEntries(std::move(entries), object);
}

absl::StatusOr<Json::Value> ApplyConfiguration(const ResourceType& type, const Json::Value& live,
                                               const Json::Value& config,
                                               const FieldManager& manager, bool force) {
  Json::Value wanted = Managed(config);
  // A subresource applies to its own part alone, and all else to what is not status.
  for (const std::string& name : wanted.getMemberNames()) {
    const bool of_status = name == "status";
    const bool kept = manager.subresource == "status" ? of_status : !(of_status && type.has_status);
    if (!kept) wanted.removeMember(name);
  }
  if (MetadataOf(wanted).empty()) wanted.removeMember("metadata");
  const Shape shape = Shape::Of(type);
  const FieldSet applied = FieldSet::Applied(wanted, shape);
  Entries entries = ReadEntries(live);
  const Entry self{.manager = manager.name,
                   .operation = "Apply",
                   .api_version = type.ApiVersion(),
                   .subresource = manager.subresource,
                   .time = "",
                   .fields = {}};
  if (entries.empty() && !live.isNull()) {
    const Json::Value now = Managed(live);
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
  const FieldSet changed = Compare(Managed(before), Managed(merged), shape).changed;
  FieldSet last;
  FieldSet others;
  std::vector<Conflict> conflicts;
  for (Entry& entry : entries) {
    if (entry.Key() == self.Key()) {
      last = entry.fields;
      continue;
    }
    const FieldSet both = entry.fields.Intersection(changed);
    for (const std::string& path : both.Paths()) conflicts.push_back({Readable(entry), path});
    entry.fields = entry.fields.Minus(both);
    others = others.Union(entry.fields);
  }
  if (!conflicts.empty() && !force) return ConflictStatus(conflicts);
  merged = RemoveFields(std::move(merged), last.Minus(applied), others.Union(applied), shape);
  Entry& own = FindOrAdd(entries, self);
  // What changes nothing but ownership takes no time.
  if (live.isNull() || WriteJson(Managed(merged)) != WriteJson(Managed(before))) {
    own.time = manager.now;
  }
  own.fields = applied;
  WriteEntries(std::move(entries), merged);
  merged["apiVersion"] = type.ApiVersion();
  merged["kind"] = type.kind;
  // What the configuration demands of the object that is there.
  for (const char* field : {"uid", "resourceVersion"}) {
    const std::string demanded = MetaString(config, field);
    if (!demanded.empty()) MutableMetadata(merged)[field] = demanded;
  }
  return merged;
}

}  // namespace mandate::apiserver
