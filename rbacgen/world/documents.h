// Splits YAML and JSON text into documents, as kubectl does.
#pragma once

#include <jsoncpp/json/json.h>

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

struct Document {
  int line;  // the line at which it begins, from 1
  Json::Value value;
};

// Text that begins with { or [ is a stream of JSON values; text after the last JSON value is YAML.
// Lines `---` separate YAML documents; empty documents are omitted. YAML scalars become strings.
// InvalidArgument, with the line, if the text is not YAML in UTF-8, has a tag that Kubernetes does
// not use, or has a second document without a line `---` before it, which kubectl would skip.
absl::StatusOr<std::vector<Document>> ReadDocuments(std::string_view text);

}  // namespace mandate::rbacgen
