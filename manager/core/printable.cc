#include "manager/core/printable.h"

#include <cstdint>
#include <cstdio>
#include <iterator>

#include "manager/core/utf8.h"

namespace mandate {
namespace {

// The code point of a valid sequence of at most three bytes; 0 of a longer one, none of which is
// escaped.
uint32_t CodePoint(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  switch (sequence.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
    case 3:
      return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
    default:
      return 0;
  }
}

// Unicode's Bidi_Control.
bool Reorders(uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

void AppendEscape(const char* format, unsigned code, std::string& out) {
  char buffer[16];
  std::snprintf(buffer, std::size(buffer), format, code);
  out += buffer;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const uint32_t code = CodePoint(sequence);
    if (length == 0 || (length == 1 && (code < 0x20 || code == 0x7f))) {
      AppendEscape("\\x%02x", code, out);
    } else if (length > 1 && ((code >= 0x80 && code < 0xa0) || Reorders(code))) {
      AppendEscape("\\u%04x", code, out);
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

}  // namespace mandate
