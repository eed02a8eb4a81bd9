// Characters in UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mandate {

// The bytes of the UTF-8 sequence (RFC 3629) that `text` starts with; 0 if it starts with none.
// `text` is not empty.
size_t Utf8Length(std::string_view text);

// As many of the text's first characters as have at most `max` bytes together.
std::string_view Utf8Prefix(std::string_view text, size_t max);

// The text, if it has at most `max` bytes; else as many of its characters, "…", and how many bytes
// it has. What a server says is kept, logged and shown, and a client of the server may have chosen
// how long it is.
std::string Abbreviated(std::string_view text, size_t max);

}  // namespace mandate
