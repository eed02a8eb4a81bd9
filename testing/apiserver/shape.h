// The merge strategy of server-side apply for a path of a kind's objects.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

enum class Merging {
  kAtomic,  // as a whole: scalars and declared atomic values
  kStruct,  // member by member; the schema declares the members
  kMap,     // member by member, with any names
  kList,    // items are identified by their keys
  kSet,     // items are identified by their values
};

// Immutable; borrows from its type. Custom kinds have the strategy in their schema. The .proto
// files of built-in kinds lack it, so a table has the paths that the project's components apply;
// any other list is atomic, and any other object is a struct.
class Shape {
 public:
  static Shape Of(const ResourceType& type);

  Merging MergingOf(const Json::Value& value) const;
  // The keys of a kList's items.
  const std::vector<std::string>& keys() const { return keys_; }
  Shape Member(const std::string& name) const;
  Shape Item() const;

 private:
  Shape(const Json::Value* schema, std::string path);

  const Json::Value* schema_;  // null for a built-in kind, and for metadata
  std::string path_;           // "metadata.ownerReferences[]"
  Merging list_ = Merging::kAtomic;
  Merging object_ = Merging::kStruct;
  std::vector<std::string> keys_;
};

}  // namespace mandate::apiserver
