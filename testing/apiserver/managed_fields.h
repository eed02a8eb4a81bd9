// Server-side apply (KEP-555), and the upkeep of metadata.managedFields by all other writes.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>

#include "absl/status/statusor.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

struct FieldManager {
  std::string name;
  std::string subresource;  // "status"
  std::string now;          // in the format of metadata
  // Whether the sent object has the types of its schema. A custom object with other types loses its
  // managers.
  bool typed = true;
};

// For a write other than apply: the manager becomes the only one of the fields that it changed.
// `live` is null for a creation. The entries in `object` are the previous ones (field_managers.h),
// and are replaced.
void TrackUpdate(const ResourceType& type, const Json::Value& live, const FieldManager& manager,
                 Json::Value& object);

// The result of applying `config` to `live`, which is null for a creation. Without `force`, a 409
// names the fields of other managers that `config` would change.
absl::StatusOr<Json::Value> ApplyConfiguration(const ResourceType& type, const Json::Value& live,
                                               const Json::Value& config,
                                               const FieldManager& manager, bool force);

}  // namespace mandate::apiserver
