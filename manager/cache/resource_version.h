// Comparing resource versions. They are opaque to clients that resume with them; to compare two of
// one resource, numbers are compared (KEP-5504), and what is no number is not comparable.
#ifndef MANAGER_CACHE_RESOURCE_VERSION_H_
#define MANAGER_CACHE_RESOURCE_VERSION_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mandate {

// None for "", leading zeros, other characters and what does not fit.
inline std::optional<uint64_t> ParseResourceVersion(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether `a` is older than `b`; false when that cannot be said.
inline bool IsOlder(std::string_view a, std::string_view b) {
  const auto left = ParseResourceVersion(a);
  const auto right = ParseResourceVersion(b);
  return left && right && *left < *right;
}

}  // namespace mandate

#endif  // MANAGER_CACHE_RESOURCE_VERSION_H_
