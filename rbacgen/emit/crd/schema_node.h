// A node of a structural schema.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/mandate/options.pb.h"
#include "rbacgen/markers/diagnostics.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

struct SchemaNode {
  // string, integer, boolean, array or object; "" for any value, and for an integer or string.
  std::string type;
  bool int_or_string = false;
  std::string description;
  // For an object: its fields, or the schema of a map's values.
  std::map<std::string, SchemaNode> properties;
  std::set<std::string> required;
  std::vector<SchemaNode> values;  // at most one
  // For an array: the schema of its items.
  std::vector<SchemaNode> items;  // at most one
  // x-kubernetes-validations.
  Yaml::List rules;
  // Every other keyword, such as format.
  Yaml::Map keywords;
  // The limits on its values, for checking defaults.
  std::vector<mandate::api::Schema> limits;
  // The place of its options.
  Place place;

  bool IsScalar() const { return int_or_string || (type != "array" && type != "object"); }
};

struct YamlOptions {
  std::optional<size_t> max_description;
  // The namespace of a conversion webhook's service if its option has none. If null, a missing
  // namespace is a mistake.
  Yaml service_namespace;
  Yaml::Flavor flavor = Yaml::Flavor::kPlain;
};

Yaml ToYaml(const SchemaNode& node, const YamlOptions& options = {});

// The message for an unknown property: `unknown field "ready_replicas"; in JSON it is
// "readyReplicas"`. The second part appears only if a property differs just in case and
// underscores, as a field's names in .proto and JSON do.
std::string NoProperty(const SchemaNode& node, const std::string& name);

// The mistake in a simple path such as ".spec.replicas", in the words of NoProperty(); "" if the
// path exists, or leads into metadata, a map or an object with any fields. Stops at a step that is
// not a plain name, such as "[?(…)]".
std::string MissingStep(const SchemaNode& root, std::string_view path);

// The node at a path of plain names; null if it does not exist.
const SchemaNode* NodeAt(const SchemaNode& root, std::string_view path);

}  // namespace mandate::rbacgen
