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
  // Of an object: its fields, or what every value of a map is.
  std::map<std::string, SchemaNode> properties;
  std::set<std::string> required;
  std::vector<SchemaNode> values;  // at most one
  // Of an array, what every item is.
  std::vector<SchemaNode> items;  // at most one
  // x-kubernetes-validations.
  Yaml::List rules;
  // Every other keyword, such as format.
  Yaml::Map keywords;
  // What restricts its values, for checking defaults.
  std::vector<mandate::api::Schema> limits;
  // Where its options are said.
  Place place;

  bool IsScalar() const { return int_or_string || (type != "array" && type != "object"); }
};

struct YamlOptions {
  std::optional<size_t> max_description;
  // Of the service of a conversion webhook whose option names none; null: that is a mistake.
  Yaml service_namespace;
  Yaml::Flavor flavor = Yaml::Flavor::kPlain;
};

Yaml ToYaml(const SchemaNode& node, const YamlOptions& options = {});

// Says that the node has no such property: `there is no "ready_replicas"; in JSON it is
// "readyReplicas"`. The second part stands only where a property differs in case and underscores
// alone, as a field's names in a .proto file and in JSON do.
std::string NoProperty(const SchemaNode& node, const std::string& name);

// Why a simple path such as ".spec.replicas" leads nowhere, as NoProperty says it: "" if it is all
// there, or it leads into metadata, a map or an object of any fields. Ends at what is not a plain
// name: "[?(…)]".
std::string MissingStep(const SchemaNode& root, std::string_view path);

// The node that a path of plain names leads to; null if there is none.
const SchemaNode* NodeAt(const SchemaNode& root, std::string_view path);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_SCHEMA_NODE_H_
