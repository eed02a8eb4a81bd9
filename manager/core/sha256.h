// SHA-256 digests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mandate {

// The digest of the parts, one after the other: 32 bytes.
std::string Sha256(const std::vector<std::string_view>& parts);

}  // namespace mandate
