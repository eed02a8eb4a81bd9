// Parses the YAML files of rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/conformance/row.h"

namespace mandate::conformance {

// `file` is the text's name in errors; its base name without the extension is the topic.
// kInvalidArgument with file and line if a member is unknown or a row has no expectation.
absl::StatusOr<std::vector<Row>> ParseRows(std::string_view text, const std::string& file);

// Loads every *.yaml in the folder, in the order of the names. Row names must be unique.
absl::StatusOr<std::vector<Row>> LoadRows(const std::string& folder);

}  // namespace mandate::conformance
