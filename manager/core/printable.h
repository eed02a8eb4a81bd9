// Text from users and servers, made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mandate {

// `text` with control characters (C0, DEL, C1), characters that reorder text (such as U+202E),
// break lines (U+2028) or have no width (U+200B), U+FFFE, U+FFFF, and bytes that are not UTF-8
// written as escapes:
// "\x1b", "\u202e". Other text stays as it is.
// The result is one line of valid UTF-8.
std::string Printable(std::string_view text);

// Valid JSON with the same values, in which all of these characters in strings are \u escapes.
// (JSON itself requires that only for C0.)
std::string PrintableJson(std::string_view json);

// Appends `text` as a string of JSON, with quotes, in which all of these characters are escapes.
// (The API server reads the body of an apply request as YAML, which forbids DEL and C1.)
// A byte that is not UTF-8 becomes U+FFFD, as in Go's encoder.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace mandate
