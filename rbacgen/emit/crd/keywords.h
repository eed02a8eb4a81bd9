// The options of a field or message, as keywords of its schema.
#pragma once

#include <string>
#include <vector>

#include "api/mandate/options.pb.h"
#include "rbacgen/emit/crd/schema_node.h"

namespace mandate::rbacgen {

// Adds the options' keywords, except `required`, which belongs to the parent. Returns the mistakes:
// options that the type does not support, that contradict each other, or that the API server
// rejects.
std::vector<std::string> ApplySchema(const mandate::api::Schema& options, SchemaNode* node);

}  // namespace mandate::rbacgen
