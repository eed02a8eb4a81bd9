#include "testing/apiserver/field_managers.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

const Json::Value* ListOf(const Json::Value& object) {
  const Json::Value* list = FindMember(MetadataOf(object), "managedFields");
  return list != nullptr && list->isArray() ? list : nullptr;
}

bool IsStep(std::string_view step) {
  if (step.starts_with("f:")) return true;
  int64_t index = 0;
  if (step.starts_with("i:")) return absl::SimpleAtoi(AsAbsl(step.substr(2)), &index);
  if (!step.starts_with("k:") && !step.starts_with("v:")) return false;
  const auto value = ParseJson(step.substr(2));
  return value.ok() && (value->isObject() || step.starts_with("v:"));
}

// Whether `fields` is valid FieldsV1.
bool IsFieldSet(const Json::Value& fields) {
  if (!fields.isObject()) return false;
  for (const std::string& step : fields.getMemberNames()) {
    if (step == ".") continue;
    if (!IsStep(step) || !IsFieldSet(fields[step])) return false;
  }
  return true;
}

std::optional<FieldManagerEntry> ReadEntry(const Json::Value& one) {
  const Json::Value* fields = FindMember(one, "fieldsV1");
  FieldManagerEntry entry{
      .manager = StringAt(one, "manager"),
      .operation = StringAt(one, "operation"),
      .api_version = StringAt(one, "apiVersion"),
      .subresource = StringAt(one, "subresource"),
      .time = StringAt(one, "time"),
      .fields = fields == nullptr ? FieldSet() : FieldSet::FromJson(*fields),
  };
  if (entry.operation != "Apply" && entry.operation != "Update") return std::nullopt;
  if (entry.api_version.empty() || StringAt(one, "fieldsType") != "FieldsV1") return std::nullopt;
  if (fields != nullptr && !IsFieldSet(*fields)) return std::nullopt;
  return entry;
}

}  // namespace

std::string FieldManagerEntry::Identity() const {
  std::string text =
      StrCat(R"({"manager":)", WriteJson(manager), R"(,"operation":)", WriteJson(operation));
  if (operation != "Apply") StrAppend(&text, R"(,"apiVersion":)", WriteJson(api_version));
  if (!subresource.empty()) StrAppend(&text, R"(,"subresource":)", WriteJson(subresource));
  return text + "}";
}

std::string FieldManagerEntry::Readable() const {
  std::string out = rbac::Quote(manager);
  if (!subresource.empty()) StrAppend(&out, " with subresource ", rbac::Quote(subresource));
  if (operation == "Update") StrAppend(&out, " using ", api_version);
  return out;
}

std::optional<FieldManagerEntries> ReadFieldManagers(const Json::Value& object) {
  FieldManagerEntries entries;
  const Json::Value* list = ListOf(object);
  if (list == nullptr) return entries;
  for (const Json::Value& one : *list) {
    std::optional<FieldManagerEntry> entry = ReadEntry(one);
    if (!entry) return std::nullopt;
    FindOrAdd(entries, *entry) = *entry;
  }
  return entries;
}

void WriteFieldManagers(FieldManagerEntries entries, Json::Value& object) {
  std::erase_if(entries, [](const auto& entry) { return entry.fields.empty(); });
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.operation, a.time, a.manager, a.api_version, a.subresource) <
           std::tie(b.operation, b.time, b.manager, b.api_version, b.subresource);
  });
  Json::Value& metadata = MutableMetadata(object);
  metadata.removeMember("managedFields");
  for (const FieldManagerEntry& entry : entries) {
    Json::Value out(Json::objectValue);
    if (!entry.manager.empty()) out["manager"] = entry.manager;
    out["operation"] = entry.operation;
    out["apiVersion"] = entry.api_version;
    if (!entry.time.empty()) out["time"] = entry.time;
    out["fieldsType"] = "FieldsV1";
    out["fieldsV1"] = entry.fields.ToJson();
    if (!entry.subresource.empty()) out["subresource"] = entry.subresource;
    metadata["managedFields"].append(std::move(out));
  }
}

FieldManagerEntries FieldManagersOfUpdate(const Json::Value& live, const Json::Value& object,
                                          bool subresource) {
  const Json::Value* given = subresource ? nullptr : ListOf(object);
  if (given != nullptr) {
    const bool reset = given->empty() || (given->size() == 1 && (*given)[0].empty());
    if (reset) return {};
    auto entries = ReadFieldManagers(object);
    if (entries) return *std::move(entries);
  }
  return ReadFieldManagers(live).value_or(FieldManagerEntries());
}

void KeepManagerTimes(const Json::Value& live, Json::Value& object) {
  const auto timeless = [](Json::Value of) {
    if (ListOf(of) == nullptr) return of;
    for (Json::Value& entry : of["metadata"]["managedFields"]) entry.removeMember("time");
    return of;
  };
  if (ListOf(live) != nullptr && timeless(live) == timeless(object)) {
    object["metadata"]["managedFields"] = *ListOf(live);
  }
}

bool KeepOwnVersions(const ResourceType& type, FieldManagerEntries& entries) {
  bool managed = true;
  std::erase_if(entries, [&](const FieldManagerEntry& entry) {
    const size_t slash = entry.api_version.find('/');
    const bool readable = slash == entry.api_version.rfind('/');
    const std::string group =
        slash == entry.api_version.npos ? "" : entry.api_version.substr(0, slash);
    if (readable && group == type.name.group) return false;
    // The converter of a built-in kind reports an unknown version; that of a custom kind just
    // fails.
    managed = managed && readable && !type.custom();
    return true;
  });
  return managed;
}

FieldManagerEntry& FindOrAdd(FieldManagerEntries& entries, const FieldManagerEntry& wanted) {
  const std::string identity = wanted.Identity();
  for (FieldManagerEntry& entry : entries) {
    if (entry.Identity() == identity) return entry;
  }
  entries.push_back(wanted);
  return entries.back();
}

}  // namespace mandate::apiserver
