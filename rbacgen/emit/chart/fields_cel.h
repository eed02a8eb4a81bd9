// The fields of a fence (rbacgen/markers/fence.h) as an expression in CEL.
#pragma once

#include <string>
#include <vector>

namespace mandate::rbacgen {

// A CEL expression: whether `object` differs from `oldObject` only in these fields, and in
// metadata.managedFields, metadata.resourceVersion and metadata.generation, which the API server
// sets. A list on the path of a field keeps its length and its order. The expression compares the
// keys that the objects have, so it includes fields that later versions of Kubernetes add.
//
// In a list on a path, all items of the old object must differ: the expression finds the index of
// an item by its value. Otherwise the expression is false.
std::string OnlyFieldsChangedCel(const std::vector<std::string>& fields);

}  // namespace mandate::rbacgen
