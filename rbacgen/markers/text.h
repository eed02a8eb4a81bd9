// Small text functions that several folders of rbacgen use.
#pragma once

#include <string>
#include <string_view>

namespace mandate::rbacgen {

bool IsUtf8(std::string_view text);

// Reads the value of a Go string literal, "…" or `…`, with its quotes. False if it is not a
// literal, or its value is not UTF-8.
bool UnquoteGo(std::string_view literal, std::string* value);

// Whether a Go string literal, "…" or `…`, begins in the text and does not end.
bool HasOpenString(std::string_view text);

// The text in quotes, with control characters, quotes and backslashes escaped; also a valid C++
// literal.
std::string Quoted(std::string_view text);

// Whether CheckDnsLabel of manager/object/names.h accepts the text.
bool IsDnsLabel(std::string_view text);

}  // namespace mandate::rbacgen
