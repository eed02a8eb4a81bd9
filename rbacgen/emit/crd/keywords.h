// The options of a field or message, as keywords of its schema.
#ifndef RBACGEN_EMIT_CRD_KEYWORDS_H_
#define RBACGEN_EMIT_CRD_KEYWORDS_H_

#include <string>
#include <vector>

#include "api/mandate/options.pb.h"
#include "rbacgen/emit/crd/schema_node.h"

namespace mandate::rbacgen {

// Adds what the options say, `required` aside, which is the parent's. Returns the mistakes:
// options that the type cannot have, that contradict each other, or that the API server refuses.
std::vector<std::string> ApplySchema(const mandate::api::Schema& options, SchemaNode* node);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_KEYWORDS_H_
