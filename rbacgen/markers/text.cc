#include "rbacgen/markers/text.h"

#include <algorithm>
#include <cstdint>

#include "manager/object/names.h"

namespace mandate::rbacgen {
namespace {

// Decodes the character at the beginning of `text`; returns its length, 0 if it is not UTF-8.
size_t DecodeUtf8(std::string_view text, uint32_t* rune) {
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80       ? 1
                        : lead >> 5 == 6  ? 2
                        : lead >> 4 == 14 ? 3
                        : lead >> 3 == 30 ? 4
                                          : 0;
  if (length == 0 || length > text.size()) return 0;
  *rune = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    *rune = *rune << 6 | (byte(i) & 0x3F);
  }
  const bool valid =
      *rune >= kLeast[length] && *rune <= 0x10FFFF && (*rune < 0xD800 || *rune > 0xDFFF);
  return valid ? length : 0;
}

void AppendUtf8(uint32_t rune, std::string* out) {
  if (rune < 0x80) {
    out->push_back(static_cast<char>(rune));
    return;
  }
  const int more = rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
  out->push_back(static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | rune >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80 | (rune >> (6 * i) & 0x3F)));
  }
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

// The number in the first `digits` characters, or -1.
int64_t Number(std::string_view text, size_t digits, int base) {
  if (text.size() < digits) return -1;
  int64_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (DigitValue(text[i]) >= base) return -1;
    value = value * base + DigitValue(text[i]);
  }
  return value;
}

// Reads one escape, after its backslash, from the front of `rest`.
bool Unescape(std::string_view* rest, std::string* value) {
  static constexpr std::string_view kNames = "abfnrtv\\\"";
  static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\\"";
  if (rest->empty()) return false;
  const char c = rest->front();
  if (const size_t known = kNames.find(c); known != kNames.npos) {
    value->push_back(kValues[known]);
    rest->remove_prefix(1);
    return true;
  }
  const bool octal = c >= '0' && c <= '7';
  if (!octal) rest->remove_prefix(1);
  const size_t digits = octal ? 3 : c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  const int64_t number = digits == 0 ? -1 : Number(*rest, digits, octal ? 8 : 16);
  if (number < 0) return false;
  rest->remove_prefix(digits);
  if (octal || c == 'x') {  // a byte
    if (number > 0xFF) return false;
    value->push_back(static_cast<char>(number));
    return true;
  }
  if (number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) return false;
  AppendUtf8(static_cast<uint32_t>(number), value);
  return true;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    uint32_t rune = 0;
    const size_t length = DecodeUtf8(text, &rune);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool UnquoteGo(std::string_view literal, std::string* value) {
  value->clear();
  if (literal.size() < 2 || literal.front() != literal.back()) return false;
  const char quote = literal.front();
  std::string_view rest = literal.substr(1, literal.size() - 2);
  if (quote == '`') {
    std::copy_if(rest.begin(), rest.end(), std::back_inserter(*value),
                 [](char c) { return c != '\r'; });
    return rest.find('`') == rest.npos && IsUtf8(*value);
  }
  if (quote != '"') return false;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == '"' || c == '\n') return false;
    rest.remove_prefix(1);
    if (c != '\\') {
      value->push_back(c);
    } else if (!Unescape(&rest, value)) {
      return false;
    }
  }
  return IsUtf8(*value);
}

bool HasOpenString(std::string_view text) {
  char open = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (open == '"' && c == '\\') {
      ++i;
    } else if (c == open) {
      open = '\0';
    } else if (open == '\0' && (c == '"' || c == '`')) {
      open = c;
    }
  }
  return open != '\0';
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      const auto octal = [&](int shift) { return static_cast<char>('0' + (c >> shift & 7)); };
      out += {'\\', octal(6), octal(3), octal(0)};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool IsDnsLabel(std::string_view text) { return CheckDnsLabel(text).ok(); }

}  // namespace mandate::rbacgen
