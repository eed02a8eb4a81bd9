// Resource versions of the API server, which can be compared (KEP-5504).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mandate {

// A resource version as a number. None for "", leading zeros, other characters, and numbers of more
// than 64 bits.
std::optional<uint64_t> ParseResourceVersion(std::string_view text);

// Whether `a` is older than `b`; false if they cannot be compared.
bool IsOlder(std::string_view a, std::string_view b);

}  // namespace mandate
