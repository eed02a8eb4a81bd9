// A table of objects that a test fills.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "manager/object/json.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// Single-threaded.
class ObjectTable : public ObjectReader {
 public:
  // Adds or replaces the object; each change is a revision. Throws if `json` is not an object.
  void Put(const GroupResource& resource, std::string_view json) {
    const Json::Value parsed = ParseJson(json).value();
    const Json::Value& metadata = parsed["metadata"];
    auto object = std::make_shared<StoredObject>();
    object->ns = metadata["namespace"].asString();
    object->name = metadata["name"].asString();
    object->uid = metadata["uid"].asString();
    for (const std::string& key : metadata["labels"].getMemberNames()) {
      object->labels[key] = metadata["labels"][key].asString();
    }
    object->deleting = metadata.isMember("deletionTimestamp");
    object->revision = ++revision_;
    object->json = json;
    objects_[{resource, object->ns, object->name}] = std::move(object);
  }

  void Delete(const GroupResource& resource, std::string_view ns, std::string_view name) {
    objects_.erase({resource, std::string(ns), std::string(name)});
    ++revision_;
  }

  std::shared_ptr<const StoredObject> Get(const GroupResource& resource, std::string_view ns,
                                          std::string_view name) const override {
    const auto found = objects_.find({resource, std::string(ns), std::string(name)});
    return found == objects_.end() ? nullptr : found->second;
  }

  std::vector<std::shared_ptr<const StoredObject>> List(const GroupResource& resource,
                                                        std::string_view ns = "") const override {
    std::vector<std::shared_ptr<const StoredObject>> list;
    for (const auto& [key, object] : objects_) {
      if (std::get<0>(key) == resource && (ns.empty() || object->ns == ns)) list.push_back(object);
    }
    return list;
  }

 private:
  using Key = std::tuple<GroupResource, std::string, std::string>;
  std::map<Key, std::shared_ptr<const StoredObject>> objects_;
  int64_t revision_ = 0;
};

}  // namespace mandate::apiserver
