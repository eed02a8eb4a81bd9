// Pieces of JSON text, appended to a string.
#ifndef MANAGER_OBJECT_JSON_TEXT_H_
#define MANAGER_OBJECT_JSON_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate {

// With quotes. Bytes that are not UTF-8 become U+FFFD, as in Go's encoder.
void AppendJsonString(std::string_view value, std::string& out);

// The inverse, of the text between the quotes, whose escapes must be whole, as JsonCursor scans
// them. Half a surrogate pair becomes U+FFFD, as in Go's decoder.
void UnescapeJsonString(std::string_view raw, std::string& out);

// The shortest text that reads back as the same double, with a ".0" if it would read as an integer;
// null for NaN and infinities.
void AppendJsonDouble(double value, std::string& out);

// `json` without white space between its tokens, otherwise to the byte; kInvalidArgument if it is
// not one JSON value, and then `out` is unchanged.
absl::Status AppendCompactJson(std::string_view json, std::string& out);

}  // namespace mandate

#endif  // MANAGER_OBJECT_JSON_TEXT_H_
