#include "manager/client/delete_options.h"

#include <cstddef>

#include "manager/object/json.h"

namespace mandate {

std::string DeleteBody(const DeleteOptions& options) {
  constexpr const char* kPropagation[] = {"Background", "Foreground", "Orphan"};
  Json::Value body;
  body["apiVersion"] = "v1";
  body["kind"] = "DeleteOptions";
  body["propagationPolicy"] = kPropagation[static_cast<size_t>(options.propagation)];
  Json::Value conditions;
  if (!options.uid.empty()) conditions["uid"] = options.uid;
  if (!options.resource_version.empty()) conditions["resourceVersion"] = options.resource_version;
  if (!conditions.isNull()) body["preconditions"] = conditions;
  if (options.dry_run) body["dryRun"].append("All");
  return WriteJson(body);
}

}  // namespace mandate
