// Rows from their YAML files.
#ifndef TESTING_CONFORMANCE_ROW_PARSER_H_
#define TESTING_CONFORMANCE_ROW_PARSER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/conformance/row.h"

namespace mandate::conformance {

// `file` names the text in messages and, without folder and ending, its topic. kInvalidArgument
// names file and line: an unknown member is an error, and so is a row without an expectation.
absl::StatusOr<std::vector<Row>> ParseRows(std::string_view text, const std::string& file);

// Every *.yaml in the folder, in the order of their names. Row names are unique.
absl::StatusOr<std::vector<Row>> LoadRows(const std::string& folder);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_ROW_PARSER_H_
