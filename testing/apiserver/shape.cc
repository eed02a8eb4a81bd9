#include "testing/apiserver/shape.h"

#include <array>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/schema.h"

namespace mandate::apiserver {
namespace {

struct Place {
  std::string_view path;
  Merging merging;
  std::string_view keys = "";  // separated by commas
};
constexpr std::array<Place, 26> kPlaces = {{
    {"metadata.ownerReferences", Merging::kList, "uid"},
    {"metadata.ownerReferences[]", Merging::kAtomic},
    {"metadata.finalizers", Merging::kSet},
    {"metadata.labels", Merging::kMap},
    {"metadata.annotations", Merging::kMap},
    {"aggregationRule.clusterRoleSelectors", Merging::kAtomic},
    {"binaryData", Merging::kMap},
    {"data", Merging::kMap},
    {"roleRef", Merging::kAtomic},
    {"secrets", Merging::kList, "name"},
    {"secrets[]", Merging::kAtomic},
    {"spec.finalizers", Merging::kAtomic},
    {"spec.ports", Merging::kList, "port,protocol"},
    {"spec.selector", Merging::kAtomic},
    {"spec.template.metadata.annotations", Merging::kMap},
    {"spec.template.metadata.labels", Merging::kMap},
    {"spec.template.spec.containers", Merging::kList, "name"},
    {"spec.template.spec.containers[].env", Merging::kList, "name"},
    {"spec.template.spec.containers[].ports", Merging::kList, "containerPort,protocol"},
    {"spec.template.spec.containers[].volumeMounts", Merging::kList, "mountPath"},
    {"spec.template.spec.imagePullSecrets", Merging::kList, "name"},
    {"spec.template.spec.initContainers", Merging::kList, "name"},
    {"spec.template.spec.nodeSelector", Merging::kAtomic},
    {"spec.template.spec.volumes", Merging::kList, "name"},
    {"status.conditions", Merging::kList, "type"},
    {"stringData", Merging::kMap},
}};

std::vector<std::string> SplitKeys(std::string_view keys) {
  std::vector<std::string> out;
  while (!keys.empty()) {
    const std::string_view key = keys.substr(0, keys.find(','));
    out.emplace_back(key);
    keys.remove_prefix(std::min(keys.size(), key.size() + 1));
  }
  return out;
}

}  // namespace

Shape Shape::Of(const ResourceType& type) {
  return Shape(type.custom() ? &type.schema->definition() : nullptr, "");
}

Shape::Shape(const Json::Value* schema, std::string path)
    : schema_(schema), path_(std::move(path)) {
  if (schema_ == nullptr) {
    for (const Place& place : kPlaces) {
      if (place.path != path_) continue;
      list_ = place.merging;
      object_ = place.merging;
      keys_ = SplitKeys(place.keys);
    }
    return;
  }
  const std::string list_type = StringAt(*schema_, "x-kubernetes-list-type");
  if (list_type == "set") list_ = Merging::kSet;
  if (list_type == "map") {
    list_ = Merging::kList;
    for (const Json::Value& key : (*schema_)["x-kubernetes-list-map-keys"]) {
      keys_.push_back(key.asString());
    }
  }
  if (FindMember(*schema_, "properties") == nullptr) object_ = Merging::kMap;
  if (StringAt(*schema_, "x-kubernetes-map-type") == "atomic") object_ = Merging::kAtomic;
}

Merging Shape::MergingOf(const Json::Value& value) const {
  if (value.isArray()) return list_;
  return value.isObject() ? object_ : Merging::kAtomic;
}

Shape Shape::Member(const std::string& name) const {
  static const auto& unknown = *new Json::Value(Json::objectValue);
  const std::string path = path_.empty() ? name : StrCat(path_, ".", name);
  // Metadata has the same schema in every kind.
  if (schema_ == nullptr || path == "metadata") return Shape(nullptr, path);
  const Json::Value* properties = FindMember(*schema_, "properties");
  const Json::Value* member = properties == nullptr ? nullptr : FindMember(*properties, name);
  if (member == nullptr) member = FindMember(*schema_, "additionalProperties");
  return Shape(member != nullptr && member->isObject() ? member : &unknown, path);
}

Shape Shape::Item() const {
  static const auto& unknown = *new Json::Value(Json::objectValue);
  if (schema_ == nullptr) return Shape(nullptr, path_ + "[]");
  const Json::Value* items = FindMember(*schema_, "items");
  return Shape(items != nullptr && items->isObject() ? items : &unknown, path_ + "[]");
}

}  // namespace mandate::apiserver
