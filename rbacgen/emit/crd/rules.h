// CEL rules of a schema.
#ifndef RBACGEN_EMIT_CRD_RULES_H_
#define RBACGEN_EMIT_CRD_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include "api/mandate/options.pb.h"
#include "rbacgen/emit/crd/schema_node.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// The options' rules: validations, immutable, and how many of a set of fields may be set.
void AddRules(const mandate::api::Schema& options, SchemaNode* node,
              std::vector<std::string>* mistakes);

// Rules of an object of which at most (exactly, at least) one of the fields may be set.
enum class OneOf { kExactly, kAtMost, kAtLeast };
void AddOneOf(OneOf kind, const std::vector<std::string>& fields, SchemaNode* node,
              std::vector<std::string>* mistakes);

// A field's name in a CEL expression, where keywords and some characters are escaped.
std::string CelName(std::string_view field);

// Of the parent of an optional field that may not change: it may not be taken away either.
void AddStaysSet(const std::string& field, SchemaNode* node);

// Rules with oldSelf where the server cannot tell which old value is meant: in the items of a list
// that is no listType: "map", and below what is mapType: "atomic". It refuses these.
void CheckTransitions(const SchemaNode& root, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_RULES_H_
