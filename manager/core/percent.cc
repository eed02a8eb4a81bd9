#include "manager/core/percent.h"

#include <charconv>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "manager/core/strings.h"

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

std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (absl::string_view piece : absl::StrSplit(AsAbsl(query), '&', absl::SkipEmpty())) {
    if (absl::StrContains(piece, ';')) continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(piece, absl::MaxSplits('=', 1));
    auto name = PercentDecode(AsStd(parts.first), /*plus=*/true);
    auto value = PercentDecode(AsStd(parts.second), /*plus=*/true);
    if (name && value) parameters.emplace_back(*std::move(name), *std::move(value));
  }
  return parameters;
}

}  // namespace mandate
