// One node of a structural schema.
#ifndef RBACGEN_EMIT_CRD_SCHEMA_NODE_H_
#define RBACGEN_EMIT_CRD_SCHEMA_NODE_H_

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
  // string, integer, boolean, array, object; "" for any value, or an integer or string.
  std::string type;
  bool int_or_string = false;
  std::string description;
  // Of an object: its fields, or the schema of the values of a map.
  std::map<std::string, SchemaNode> properties;
  std::set<std::string> required;
  std::vector<SchemaNode> values;  // at most one
  // Of an array: the schema of its items.
  std::vector<SchemaNode> items;  // at most one
  // x-kubernetes-validations.
  Yaml::List rules;
  // Every other keyword, such as format.
  Yaml::Map keywords;
  // The limits of its values, to check defaults.
  std::vector<mandate::api::Schema> limits;
  // The place of its options.
  Place place;

  bool IsScalar() const { return int_or_string || (type != "array" && type != "object"); }
};

struct YamlOptions {
  std::optional<size_t> max_description;
  // Of the service of a conversion webhook whose option has no namespace; null: a missing one is a
  // mistake.
  Yaml service_namespace;
  Yaml::Flavor flavor = Yaml::Flavor::kPlain;
};

Yaml ToYaml(const SchemaNode& node, const YamlOptions& options = {});

// The message for an unknown property: `unknown field "ready_replicas"; in JSON it is
// "readyReplicas"`. The second part is added only if a property differs in case and underscores
// alone, as a field's names in a .proto file and in JSON do.
std::string NoProperty(const SchemaNode& node, const std::string& name);

// The mistake in a simple path such as ".spec.replicas", as NoProperty reports it: "" if the path
// exists, or leads into metadata, a map or an object of any fields. Ends at what is not a plain
// name: "[?(…)]".
std::string MissingStep(const SchemaNode& root, std::string_view path);

// The node that a path of plain names leads to; null if it does not exist.
const SchemaNode* NodeAt(const SchemaNode& root, std::string_view path);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_SCHEMA_NODE_H_
