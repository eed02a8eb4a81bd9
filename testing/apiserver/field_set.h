// A set of paths in an object, in the format of metadata.managedFields (FieldsV1).
#pragma once

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <vector>

#include "testing/apiserver/shape.h"

namespace mandate::apiserver {

// A value. The steps of a path are written as in FieldsV1: "f:name" is a member, k:{"type":"Ready"}
// an item with these keys, v:"x" an item with this value.
class FieldSet {
 public:
  static FieldSet FromJson(const Json::Value& fields);
  Json::Value ToJson() const;

  // The paths of an applied configuration: its leaves, and its list items and map entries.
  static FieldSet Applied(const Json::Value& value, const Shape& shape);
  // Every path of a value, including its containers.
  static FieldSet Everything(const Json::Value& value, const Shape& shape);

  bool empty() const { return !member && children.empty(); }
  FieldSet Union(const FieldSet& other) const;
  FieldSet Minus(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  // The child at a step; null if it is absent.
  const FieldSet* Child(const std::string& step) const;
  // The paths in readable form, .status.conditions[type="Ready"].reason. The paths of one depth
  // precede those below them.
  std::vector<std::string> Paths() const;
  bool operator==(const FieldSet&) const = default;

  bool member = false;  // the path itself is in the set
  std::map<std::string, FieldSet> children;
};

// The step to an item of a list with keys or of a set.
std::string StepTo(const Json::Value& item, const Shape& list, Merging merging);
inline std::string StepTo(const std::string& member) { return "f:" + member; }

// The paths that `now` added or changed, and those that it removed. Null counts as absent.
struct FieldChanges {
  FieldSet changed;
  FieldSet removed;
};
FieldChanges Compare(const Json::Value& old, const Json::Value& now, const Shape& shape);

}  // namespace mandate::apiserver
