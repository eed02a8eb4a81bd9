// SHA-256 digests.
#ifndef MANAGER_CORE_SHA256_H_
#define MANAGER_CORE_SHA256_H_

#include <string>
#include <string_view>
#include <vector>

namespace mandate {

// The digest of the parts, one after the other: 32 bytes.
std::string Sha256(const std::vector<std::string_view>& parts);

}  // namespace mandate

#endif  // MANAGER_CORE_SHA256_H_
