// Characters in UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace mandate {

// The bytes of the UTF-8 sequence (RFC 3629) that `text` starts with; 0 if it starts with none.
// `text` is not empty.
size_t Utf8Length(std::string_view text);

}  // namespace mandate
