// Small text functions that several folders of rbacgen use.
#ifndef RBACGEN_MARKERS_TEXT_H_
#define RBACGEN_MARKERS_TEXT_H_

#include <string>
#include <string_view>

namespace mandate::rbacgen {

bool IsUtf8(std::string_view text);

// The value of a Go string literal, "…" or `…`, quotes included. False if it is not one, or its
// value is not UTF-8.
bool UnquoteGo(std::string_view literal, std::string* value);

// Whether a Go string literal, "…" or `…`, begins in the text and does not end.
bool HasOpenString(std::string_view text);

// "text", with control characters, quotes and backslashes escaped; also a valid C++ literal.
std::string Quoted(std::string_view text);

// As CheckDnsLabel of manager/object/names.h.
bool IsDnsLabel(std::string_view text);

// Whether one insertion, removal, replacement or swap of neighbours makes `a` into `b`.
bool IsOneEditAway(std::string_view a, std::string_view b);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_TEXT_H_
