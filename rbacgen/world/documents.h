// The documents of YAML and JSON text, divided as kubectl divides them.
#ifndef RBACGEN_WORLD_DOCUMENTS_H_
#define RBACGEN_WORLD_DOCUMENTS_H_

#include <jsoncpp/json/json.h>

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

struct Document {
  int line;  // where it begins, from 1
  Json::Value value;
};

// Text that begins with { or [ is a stream of JSON values; what follows the last JSON value is
// YAML. Lines `---` separate documents of YAML; empty documents are omitted. Scalars of YAML are
// strings. InvalidArgument with the line: text that is not YAML in UTF-8, a tag that Kubernetes
// does not use, or a second document without a line `---` before it, which kubectl would skip.
absl::StatusOr<std::vector<Document>> ReadDocuments(std::string_view text);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_DOCUMENTS_H_
