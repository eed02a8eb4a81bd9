#include "manager/client/eviction.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "manager/object/api_error.h"
#include "manager/object/json.h"

namespace mandate {

std::string EvictionBody(const ObjectKey& pod, const EvictOptions& options) {
  Json::Value body;
  body["apiVersion"] = "policy/v1";
  body["kind"] = "Eviction";
  body["metadata"]["name"] = pod.name;
  body["metadata"]["namespace"] = pod.ns;
  Json::Value deletion;
  if (!options.uid.empty()) deletion["preconditions"]["uid"] = options.uid;
  if (options.grace_period.has_value()) {
    deletion["gracePeriodSeconds"] = Json::Int64{absl::ToInt64Seconds(*options.grace_period)};
  }
  if (!deletion.isNull()) body["deleteOptions"] = deletion;
  return WriteJson(body);
}

bool IsBlockedByBudget(const absl::Status& status) {
  if (!IsTooManyRequests(status)) return false;
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  if (!proto.has_value()) return false;
  const auto& causes = proto->details().causes();
  return std::any_of(causes.begin(), causes.end(),
                     [](const auto& cause) { return cause.reason() == "DisruptionBudget"; });
}

}  // namespace mandate
