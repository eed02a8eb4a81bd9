#include "manager/object/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "manager/object/json_cursor.h"

namespace mandate {
namespace {

// The control characters that have one-letter escapes, and their letters.
constexpr std::string_view kControls = "\b\f\n\r\t";
constexpr std::string_view kLetters = "bfnrt";

// The value of four hexadecimal digits, which were validated before.
char32_t Hex4(std::string_view digits) {
  uint16_t value = 0;
  std::from_chars(digits.data(), digits.data() + 4, value, 16);
  return value;
}

void AppendUtf8(char32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace

void UnescapeJsonString(std::string_view raw, std::string& out) {
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    const size_t escape = std::min(raw.find('\\', i), raw.size());
    out.append(raw, i, escape - i);
    if (escape == raw.size()) break;
    i = escape + 2;
    const char kind = raw[escape + 1];
    if (kind == 'u') {
      char32_t c = Hex4(raw.substr(i));
      i += 4;
      if (c >= 0xD800 && c < 0xDC00 && raw.substr(i, 2) == "\\u") {
        const char32_t low = Hex4(raw.substr(i + 2));
        if (low >= 0xDC00 && low < 0xE000) {
          c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
          i += 6;
        }
      }
      AppendUtf8(c >= 0xD800 && c < 0xE000 ? 0xFFFD : c, out);
    } else if (const size_t at = kLetters.find(kind); at != std::string_view::npos) {
      out += kControls[at];
    } else {
      out += kind;
    }
  }
}

void AppendJsonDouble(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

absl::Status AppendCompactJson(std::string_view json, std::string& out) {
  JsonCursor cursor(json);
  cursor.SkipValue();
  if (absl::Status status = cursor.Finish(); !status.ok()) return status;
  // Valid JSON has white space only between tokens and inside strings.
  bool in_string = false;
  size_t kept = 0;  // all text before it is appended or dropped
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      out.append(json, kept, i - kept);
      kept = i + 1;
    }
  }
  out.append(json, kept, json.size() - kept);
  return absl::OkStatus();
}

}  // namespace mandate
