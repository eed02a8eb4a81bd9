// Characters in UTF-8.
#ifndef MANAGER_CORE_UTF8_H_
#define MANAGER_CORE_UTF8_H_

#include <cstddef>
#include <string_view>

namespace mandate {

// The bytes of the UTF-8 sequence (RFC 3629) that `text` starts with; 0 if it starts with none.
// `text` is not empty.
size_t Utf8Length(std::string_view text);

}  // namespace mandate

#endif  // MANAGER_CORE_UTF8_H_
