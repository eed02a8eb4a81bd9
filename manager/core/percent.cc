#include "manager/core/percent.h"

#include <charconv>
#include <cstdint>

#include "absl/strings/ascii.h"

namespace mandate {

std::optional<std::string> PercentDecode(std::string_view text, bool plus) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += plus && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    uint8_t byte = 0;
    if (digits.size() != 2 || !absl::ascii_isxdigit(digits[0]) ||
        !absl::ascii_isxdigit(digits[1])) {
      return std::nullopt;
    }
    std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

}  // namespace mandate
