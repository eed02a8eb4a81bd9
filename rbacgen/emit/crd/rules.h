// The CEL rules of a schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/mandate/options.pb.h"
#include "rbacgen/emit/crd/schema_node.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Adds the rules of the options: validations, immutable, and limits on the number of fields that
// are set.
void AddRules(const mandate::api::Schema& options, SchemaNode* node,
              std::vector<std::string>* mistakes);

// Adds the rule that exactly (at most, at least) one of the fields is set.
enum class OneOf { kExactly, kAtMost, kAtLeast };
void AddOneOf(OneOf kind, const std::vector<std::string>& fields, SchemaNode* node,
              std::vector<std::string>* mistakes);

// A field's name in a CEL expression, where keywords and some characters are escaped.
std::string CelName(std::string_view field);

// Adds a rule to the parent of an immutable optional field: the field must not be removed.
void AddStaysSet(const std::string& field, SchemaNode* node);

// Reports rules with oldSelf whose old value the server cannot find, in the items of a list that is
// not listType: "map" and below mapType: "atomic". The server rejects such rules.
void CheckTransitions(const SchemaNode& root, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
