#include "manager/core/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "manager/core/utf8.h"

namespace mandate {
namespace {

// The code point of a valid sequence of at most three bytes. It is 0 for a longer sequence, which
// is never escaped.
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

// The characters that make a text look like another: Unicode's Bidi_Control, which reorders text,
// line separators (U+2028, U+2029), and characters without width.
bool Misleads(uint32_t code) {
  return code == 0x00ad || code == 0x061c || code == 0xfeff || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2064) ||
         (code >= 0x2066 && code <= 0x2069);
}

void AppendEscape(const char* format, unsigned code, std::string& out) {
  char buffer[16];
  std::snprintf(buffer, std::size(buffer), format, code);
  out += buffer;
}

// Not printable in YAML, as which the API server reads the body of an apply request.
bool IsNoCharacter(uint32_t code) { return code == 0xfffe || code == 0xffff; }

bool IsControl(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Of a character of at most three bytes.
bool IsEscaped(uint32_t code) { return IsControl(code) || Misleads(code) || IsNoCharacter(code); }

// Calls `append` with each character of the text, its code point (of at most three bytes) and
// whether it is UTF-8; if not, the character is one byte.
template <class Append>
void ForEachCharacter(std::string_view text, Append append) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    append(character, CodePoint(character), length != 0);
    text.remove_prefix(character.size());
  }
}

// Whether the byte is a character that a string of JSON has as it is.
bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// Appends a character of a string of JSON; "" is one that is not UTF-8.
void AppendJsonCharacter(std::string_view character, std::string& out) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  const uint32_t code = CodePoint(character);
  if (character.empty()) {
    out += "\xef\xbf\xbd";
  } else if (const size_t at = kShort.find(character); at != std::string_view::npos) {
    out += {'\\', kLetters[at]};
  } else if (character.size() < 4 && IsEscaped(code)) {
    AppendEscape("\\u%04x", code, out);
  } else {
    out += character;
  }
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  ForEachCharacter(text, [&](std::string_view character, uint32_t code, bool is_utf8) {
    if (!is_utf8 || (character.size() == 1 && IsControl(code))) {
      AppendEscape("\\x%02x", code, out);
    } else if (character.size() < 4 && IsEscaped(code)) {
      AppendEscape("\\u%04x", code, out);
    } else {
      out += character;
    }
  });
  return out;
}

std::string PrintableJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  ForEachCharacter(json, [&](std::string_view character, uint32_t code, bool is_utf8) {
    const bool is_blank = code < 0x20;  // white space between values; JSON strings escape these
    if (!is_utf8) {
      out += "\\ufffd";
    } else if (character.size() < 4 && !is_blank && IsEscaped(code)) {
      AppendEscape("\\u%04x", code, out);
    } else {
      out += character;
    }
  });
  return out;
}

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const auto special = std::ranges::find_if_not(text, IsPlain);
    const auto plain = static_cast<size_t>(special - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t length = Utf8Length(text);
    AppendJsonCharacter(text.substr(0, length), out);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  out += '"';
}

}  // namespace mandate
