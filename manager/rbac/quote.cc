#include "manager/rbac/quote.h"

#include "manager/core/strings.h"

namespace mandate::rbac {

std::string Quote(std::string_view text) {
  constexpr std::string_view kControl = "\a\b\f\n\r\t\v";
  constexpr std::string_view kLetters = "abfnrtv";
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (const size_t at = kControl.find(c); at != std::string_view::npos) {
      quoted += {'\\', kLetters[at]};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      StrAppend(&quoted, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace mandate::rbac
