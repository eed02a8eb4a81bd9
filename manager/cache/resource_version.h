// Compares resource versions of one resource as numbers (KEP-5504). A version that is not a number
// cannot be compared.
#ifndef MANAGER_CACHE_RESOURCE_VERSION_H_
#define MANAGER_CACHE_RESOURCE_VERSION_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mandate {

// None for "", leading zeros, other characters, and numbers of more than 64 bits.
inline std::optional<uint64_t> ParseResourceVersion(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether `a` is older than `b`; false if they cannot be compared.
inline bool IsOlder(std::string_view a, std::string_view b) {
  const auto left = ParseResourceVersion(a);
  const auto right = ParseResourceVersion(b);
  return left && right && *left < *right;
}

}  // namespace mandate

#endif  // MANAGER_CACHE_RESOURCE_VERSION_H_
