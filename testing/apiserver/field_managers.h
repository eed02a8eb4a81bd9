// The list metadata.managedFields: who manages which fields of an object.
#ifndef TESTING_APISERVER_FIELD_MANAGERS_H_
#define TESTING_APISERVER_FIELD_MANAGERS_H_

#include <jsoncpp/json/json.h>

#include <optional>
#include <string>
#include <vector>

#include "testing/apiserver/field_set.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// One entry. A value.
struct FieldManagerEntry {
  // Whose it is, as the server sorts it: all but what and when, and of an apply, but the version.
  std::string Identity() const;
  // As conflicts name it: "m" with subresource "status" using v1.
  std::string Readable() const;

  std::string manager = {};
  std::string operation = {};  // "Apply", "Update"
  std::string api_version = {};
  std::string subresource = {};
  std::string time = {};
  FieldSet fields = {};
};
using FieldManagerEntries = std::vector<FieldManagerEntry>;

// None where there is no list; nullopt when one of its entries is none.
std::optional<FieldManagerEntries> ReadFieldManagers(const Json::Value& object);

// Replaces the object's list: without entries that manage nothing, in the server's order.
void WriteFieldManagers(FieldManagerEntries entries, Json::Value& object);

// The entries from which a write that is no apply goes on: those that `object` brings, else
// `live`'s. A list that is empty, or of one empty entry, takes them all away. In a subresource,
// what is brought does not count.
FieldManagerEntries FieldManagersOfUpdate(const Json::Value& live, const Json::Value& object,
                                          bool subresource);

// Gives `object` the list of `live`, where the times of its entries are all that differs: a write
// that changes nothing else is none.
void KeepManagerTimes(const Json::Value& live, Json::Value& object);

// Leaves those whose version is of the kind's group. False: one of the others makes the server give
// up managing the object.
bool KeepOwnVersions(const ResourceType& type, FieldManagerEntries& entries);

// The entry of the same identity as `wanted`, which is added when there is none.
FieldManagerEntry& FindOrAdd(FieldManagerEntries& entries, const FieldManagerEntry& wanted);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_FIELD_MANAGERS_H_
