// A set of places in an object, as metadata.managedFields writes it (FieldsV1).
#ifndef TESTING_APISERVER_FIELD_SET_H_
#define TESTING_APISERVER_FIELD_SET_H_

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <vector>

#include "testing/apiserver/shape.h"

namespace mandate::apiserver {

// A value. Each step of a path is written as in FieldsV1: "f:name" a member, k:{"type":"Ready"} an
// item by its keys, v:"x" an item by its value.
class FieldSet {
 public:
  static FieldSet FromJson(const Json::Value& fields);
  Json::Value ToJson() const;

  // What an applied configuration says: its leaves, and the items and map entries it names.
  static FieldSet Applied(const Json::Value& value, const Shape& shape);
  // Every place of a value, containers too.
  static FieldSet Everything(const Json::Value& value, const Shape& shape);

  bool empty() const { return !member && children.empty(); }
  FieldSet Union(const FieldSet& other) const;
  FieldSet Minus(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  // The child at a step; null: there is none.
  const FieldSet* Child(const std::string& step) const;
  // As people read them, .status.conditions[type="Ready"].reason, those at one depth of a place
  // before what is in them.
  std::vector<std::string> Paths() const;
  bool operator==(const FieldSet&) const = default;

  bool member = false;  // the place itself is in the set
  std::map<std::string, FieldSet> children;
};

// The step to an item of a list by keys or of a set.
std::string StepTo(const Json::Value& item, const Shape& list, Merging merging);
inline std::string StepTo(const std::string& member) { return "f:" + member; }

// What is another or new in `now`, and what of `old` is no more. Null is nothing.
struct FieldChanges {
  FieldSet changed;
  FieldSet removed;
};
FieldChanges Compare(const Json::Value& old, const Json::Value& now, const Shape& shape);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_FIELD_SET_H_
