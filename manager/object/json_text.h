// Pieces of JSON text, appended to a string.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate {

// The inverse, of the text between the quotes, whose escapes must be whole, as JsonCursor scans
// them. Half a surrogate pair becomes U+FFFD, as in Go's decoder.
void UnescapeJsonString(std::string_view raw, std::string& out);

// Appends the shortest text from which a reader gets the same double. Adds ".0" if the text would
// be an integer. NaN and infinities become null.
void AppendJsonDouble(double value, std::string& out);

// Appends `json` without the white space between its tokens; all other bytes stay the same.
// kInvalidArgument, and `out` is unchanged, if `json` is not exactly one JSON value.
absl::Status AppendCompactJson(std::string_view json, std::string& out);

}  // namespace mandate
