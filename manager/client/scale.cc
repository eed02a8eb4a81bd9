#include "manager/client/scale.h"

#include <tuple>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/object/json.h"

namespace mandate {

std::string ScaleBody(const ObjectKey& key, const Scale& scale) {
  Json::Value body;
  body["apiVersion"] = "autoscaling/v1";
  body["kind"] = "Scale";
  Json::Value& metadata = body["metadata"];
  metadata["name"] = key.name;
  if (!key.ns.empty()) metadata["namespace"] = key.ns;
  if (!scale.uid.empty()) metadata["uid"] = scale.uid;
  metadata["resourceVersion"] = scale.resource_version;
  body["spec"]["replicas"] = scale.replicas;
  return WriteJson(body);
}

absl::StatusOr<Scale> ParseScale(std::string_view json) {
  ASSIGN_OR_RETURN(const Json::Value value, ParseJson(json));
  const absl::Status invalid = absl::InvalidArgumentError("it is not a Scale");
  const Json::Value* kind = FindMember(value, "kind");
  if (kind == nullptr || *kind != "Scale") return invalid;
  const auto find = [&](std::string_view part, std::string_view name) -> const Json::Value* {
    const Json::Value* object = FindMember(value, part);
    return object == nullptr ? nullptr : FindMember(*object, name);
  };
  Scale scale;
  for (const auto& [part, name, to] : {
           std::tuple("metadata", "uid", &scale.uid),
           std::tuple("metadata", "resourceVersion", &scale.resource_version),
           std::tuple("status", "selector", &scale.selector),
       }) {
    const Json::Value* text = find(part, name);
    if (text == nullptr) continue;
    if (!text->isString()) return invalid;
    *to = text->asString();
  }
  for (const auto& [part, to] :
       {std::pair("spec", &scale.replicas), std::pair("status", &scale.observed_replicas)}) {
    const Json::Value* number = find(part, "replicas");
    if (number == nullptr) continue;
    if (!number->isInt()) return invalid;
    *to = number->asInt();
  }
  return scale;
}

}  // namespace mandate
