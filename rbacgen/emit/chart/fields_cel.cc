#include "rbacgen/emit/chart/fields_cel.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "manager/core/strings.h"
#include "rbacgen/emit/chart/pattern_cel.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kEachItem = "[*]";
constexpr const char* kServersFields[] = {"metadata.managedFields", "metadata.resourceVersion",
                                          "metadata.generation"};

// The paths as a tree. A node without children may change.
struct Node {
  std::map<std::string, Node> children;  // by the key, or kEachItem
};

// "a[*].b" has the parts a, [*] and b.
void AddPath(std::string_view path, Node& root) {
  Node* node = &root;
  while (!path.empty()) {
    const size_t size = path.starts_with(kEachItem)
                            ? kEachItem.size()
                            : std::min(path.find_first_of(".["), path.size());
    node = &node->children[std::string(path.substr(0, size))];
    path.remove_prefix(size);
    if (path.starts_with('.')) path.remove_prefix(1);
  }
}

std::string Literals(const std::vector<std::string>& keys) {
  std::string list;
  for (const std::string& key : keys) StrAppend(&list, list.empty() ? "" : ", ", CelLiteral(key));
  return StrCat("[", list, "]");
}

// Whether the map or list `now` differs from `old` only in the fields below the node. `depth` makes
// the names of variables unique.
std::string SameCel(const Node& node, const std::string& now, const std::string& old, int depth) {
  const auto variable = [depth](std::string_view name) { return StrCat(name, depth); };
  if (const auto items = node.children.find(std::string(kEachItem)); items != node.children.end()) {
    const std::string was = variable("was"), twin = variable("twin"), is = variable("is");
    return StrCat(now, ".size() == ", old, ".size() && ", old, ".all(", was, ", ", old,
                  ".exists_one(", twin, ", ", twin, " == ", was, ") && [", now, "[", old,
                  ".indexOf(", was, ")]].all(", is, ", ",
                  SameCel(items->second, is, was, depth + 1), "))");
  }
  const std::string key = variable("key");
  std::vector<std::string> free, inner;
  std::string below;
  for (const auto& [name, child] : node.children) {
    (child.children.empty() ? free : inner).push_back(name);
    if (child.children.empty()) continue;
    const std::string index = StrCat("[", CelLiteral(name), "]");
    StrAppend(&below, " && (!(", CelLiteral(name), " in ", old, ") || ",
              SameCel(child, now + index, old + index, depth), ")");
  }
  const std::string is_free = free.empty() ? "" : StrCat(key, " in ", Literals(free), " || ");
  const std::string is_inner = inner.empty() ? "" : StrCat(key, " in ", Literals(inner), " || ");
  return StrCat(now, ".all(", key, ", ", is_free, key, " in ", old, " && (", is_inner, now, "[",
                key, "] == ", old, "[", key, "])) && ", old, ".all(", key, ", ", is_free, key,
                " in ", now, ")", below);
}

}  // namespace

std::string OnlyFieldsChangedCel(const std::vector<std::string>& fields) {
  Node root;
  for (const char* field : kServersFields) AddPath(field, root);
  for (const std::string& field : fields) AddPath(field, root);
  // dyn: for the type checker, the types of Kubernetes' objects have no keys.
  return StrCat("[dyn(object)].all(is, [dyn(oldObject)].all(was, ", SameCel(root, "is", "was", 0),
                "))");
}

}  // namespace mandate::rbacgen
