// The list metadata.managedFields: the managers of an object's fields.
#pragma once

#include <jsoncpp/json/json.h>

#include <optional>
#include <string>
#include <vector>

#include "testing/apiserver/field_set.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// One entry. A value.
struct FieldManagerEntry {
  // The entry's identity, by which the server sorts: all members except for fields and time, and
  // for an apply also except for the version.
  std::string Identity() const;
  // The name in the message of a conflict: "m" with subresource "status" using v1.
  std::string Readable() const;

  std::string manager = {};
  std::string operation = {};  // "Apply", "Update"
  std::string api_version = {};
  std::string subresource = {};
  std::string time = {};
  FieldSet fields = {};
};
using FieldManagerEntries = std::vector<FieldManagerEntry>;

// The entries of the object's list. Empty if there is no list; nullopt if an entry is invalid.
std::optional<FieldManagerEntries> ReadFieldManagers(const Json::Value& object);

// Replaces the object's list. Entries without fields are omitted; the order is the server's.
void WriteFieldManagers(FieldManagerEntries entries, Json::Value& object);

// The entries that a write other than apply starts from: those in `object`, or else those of
// `live`. An empty list, or a list of one empty entry, removes all entries. For a subresource the
// entries in `object` are ignored.
FieldManagerEntries FieldManagersOfUpdate(const Json::Value& live, const Json::Value& object,
                                          bool subresource);

// Gives `object` the list of `live` if the two objects differ only in the times of the entries, so
// that such a write changes nothing.
void KeepManagerTimes(const Json::Value& live, Json::Value& object);

// Keeps the entries whose version belongs to the kind's group. False if another entry makes the
// server stop tracking the object's managers.
bool KeepOwnVersions(const ResourceType& type, FieldManagerEntries& entries);

// The entry with the same identity as `wanted`; it is added if it is absent.
FieldManagerEntry& FindOrAdd(FieldManagerEntries& entries, const FieldManagerEntry& wanted);

}  // namespace mandate::apiserver
