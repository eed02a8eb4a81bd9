// How the values at one place of a kind's objects merge under server-side apply.
#ifndef TESTING_APISERVER_SHAPE_H_
#define TESTING_APISERVER_SHAPE_H_

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

enum class Merging {
  kAtomic,  // as a whole: scalars, and what is declared so
  kStruct,  // member by member, the members being declared
  kMap,     // member by member, whatever they are called
  kList,    // items told apart by their keys
  kSet,     // items told apart by their values
};

// Immutable; borrows from its type. Custom kinds say how in their schema. Of built-in kinds, whose
// .proto files do not, the places that the project's components apply stand in a table; another
// list of them is atomic, another object a struct.
class Shape {
 public:
  static Shape Of(const ResourceType& type);

  Merging MergingOf(const Json::Value& value) const;
  // Of the items of a kList.
  const std::vector<std::string>& keys() const { return keys_; }
  Shape Member(const std::string& name) const;
  Shape Item() const;

 private:
  Shape(const Json::Value* schema, std::string path);

  const Json::Value* schema_;  // null: of a built-in kind, or metadata
  std::string path_;           // "metadata.ownerReferences[]"
  Merging list_ = Merging::kAtomic;
  Merging object_ = Merging::kStruct;
  std::vector<std::string> keys_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_SHAPE_H_
