#include "controllers/printable.h"

#include <cstdio>
#include <iterator>

namespace mandate {
namespace {

bool Reorders(unsigned code) {
  return code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
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
  for (size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](size_t k) -> unsigned {
      return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
    };
    const unsigned c = at(i);
    // The characters in question have one, two or three bytes in UTF-8.
    const unsigned two = (c & 0x1f) << 6 | (at(i + 1) & 0x3f);
    const unsigned three = (c & 0x0f) << 12 | (at(i + 1) & 0x3f) << 6 | (at(i + 2) & 0x3f);
    if (c < 0x20 || c == 0x7f) {
      AppendEscape("\\x%02x", c, out);
    } else if (c == 0xc2 && two >= 0x80 && two < 0xa0 && i + 1 < text.size()) {
      AppendEscape("\\u%04x", two, out);
      i += 1;
    } else if (c == 0xe2 && i + 2 < text.size() && Reorders(three)) {
      AppendEscape("\\u%04x", three, out);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace mandate
