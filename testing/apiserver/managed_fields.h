// Who manages which fields of an object: server-side apply (KEP-555) and what other writes leave
// for it in metadata.managedFields.
#ifndef TESTING_APISERVER_MANAGED_FIELDS_H_
#define TESTING_APISERVER_MANAGED_FIELDS_H_

#include <jsoncpp/json/json.h>

#include <string>

#include "absl/status/statusor.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

struct FieldManager {
  std::string name;
  std::string subresource;  // "status"
  std::string now;          // as metadata has times
  // Whether what was sent has the types of its schema: of a custom object that has not, nobody
  // manages anything.
  bool typed = true;
};

// Of a write that is no apply: what it changed is the manager's now, and nobody else's. `live` is
// null of a creation; what `object` has in metadata.managedFields counts as what was managed before
// (field_managers.h), and is replaced.
void TrackUpdate(const ResourceType& type, const Json::Value& live, const FieldManager& manager,
                 Json::Value& object);

// The object that results when `config` is applied to `live`, null of a creation. Without `force`
// a 409 names what others manage and `config` would change.
absl::StatusOr<Json::Value> ApplyConfiguration(const ResourceType& type, const Json::Value& live,
                                               const Json::Value& config,
                                               const FieldManager& manager, bool force);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_MANAGED_FIELDS_H_
