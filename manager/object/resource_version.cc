#include "manager/object/resource_version.h"

#include <charconv>
#include <system_error>

namespace mandate {

std::optional<uint64_t> ParseResourceVersion(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsOlder(std::string_view a, std::string_view b) {
  const auto left = ParseResourceVersion(a);
  const auto right = ParseResourceVersion(b);
  return left && right && *left < *right;
}

}  // namespace mandate
