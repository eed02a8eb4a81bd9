#include "rbacgen/emit/crd/schema_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "rbacgen/emit/crd/doc_comment.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

bool HoldsAnything(const SchemaNode& node) {
  return node.keywords.contains("x-kubernetes-preserve-unknown-fields") ||
         node.keywords.contains("x-kubernetes-embedded-resource");
}

// Gives the same result for all spellings of a name: "ready_replicas", "readyReplicas".
std::string Folded(std::string name) {
  std::erase(name, '_');
  return absl::AsciiStrToLower(name);
}

}  // namespace

Yaml ToYaml(const SchemaNode& node, const YamlOptions& options) {
  Yaml::Map map = node.keywords;
  if (!node.type.empty()) map["type"] = node.type;
  if (node.int_or_string) {
    map["x-kubernetes-int-or-string"] = Yaml::Verbatim("true");
    map["anyOf"] = Yaml::List{Yaml::Map{{"type", "integer"}}, Yaml::Map{{"type", "string"}}};
  }
  if (std::string text = CutDescription(node.description, options.max_description); !text.empty()) {
    map["description"] = std::move(text);
  }
  if (!node.properties.empty()) {
    Yaml::Map properties;
    for (const auto& [name, property] : node.properties) {
      properties[name] = ToYaml(property, options);
    }
    map["properties"] = std::move(properties);
  }
  if (!node.required.empty()) {
    map["required"] = Yaml::List(node.required.begin(), node.required.end());
  }
  for (const SchemaNode& value : node.values) map["additionalProperties"] = ToYaml(value, options);
  for (const SchemaNode& item : node.items) map["items"] = ToYaml(item, options);
  if (!node.rules.empty()) map["x-kubernetes-validations"] = node.rules;
  return map;
}

std::string NoProperty(const SchemaNode& node, const std::string& name) {
  std::string text = StrCat("unknown field ", Quoted(name));
  for (const auto& [property, schema] : node.properties) {
    if (Folded(property) == Folded(name)) {
      StrAppend(&text, "; in JSON it is ", Quoted(property));
      break;
    }
  }
  return text;
}

std::string MissingStep(const SchemaNode& root, std::string_view path) {
  const SchemaNode* node = &root;
  while (path.starts_with('.')) {
    path.remove_prefix(1);
    const std::string name(path.substr(0, path.find_first_not_of(kNameCharacters)));
    path.remove_prefix(name.size());
    if (node == &root && name == "metadata") return "";
    if (!node->values.empty() || HoldsAnything(*node)) return "";
    const auto found = node->properties.find(name);
    if (found == node->properties.end()) return NoProperty(*node, name.empty() ? "." : name);
    node = &found->second;
  }
  return "";
}

const SchemaNode* NodeAt(const SchemaNode& root, std::string_view path) {
  const SchemaNode* node = &root;
  while (path.starts_with('.')) {
    path.remove_prefix(1);
    const std::string name(path.substr(0, path.find_first_not_of(kNameCharacters)));
    path.remove_prefix(std::min(name.size(), path.size()));
    const auto found = node->properties.find(name);
    if (found == node->properties.end()) return nullptr;
    node = &found->second;
  }
  return path.empty() ? node : nullptr;
}

}  // namespace mandate::rbacgen
