#include "rbacgen/yaml/yaml_scalar.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"

namespace mandate::rbacgen {
namespace {

constexpr size_t kWidth = 80;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t Digits(std::string_view s) {
  return std::find_if_not(s.begin(), s.end(), IsDigit) - s.begin();
}

// Removes the character from the front, if it is there.
bool Take(std::string_view* s, char c) {
  if (!s->starts_with(c)) return false;
  s->remove_prefix(1);
  return true;
}

void TakeSign(std::string_view* s) { Take(s, '-') || Take(s, '+'); }

// Removes one or two digits from the front and returns their value; -1 if there are none.
int TakeNumber(std::string_view* s) {
  const size_t n = std::min<size_t>(Digits(*s), 2);
  if (n == 0) return -1;
  const int number = n == 1 ? (*s)[0] - '0' : ((*s)[0] - '0') * 10 + (*s)[1] - '0';
  s->remove_prefix(n);
  return number;
}

bool TakeClock(std::string_view* s) {
  const int hour = TakeNumber(s);
  if (hour < 0 || hour > 23 || !Take(s, ':')) return false;
  const int minute = TakeNumber(s);
  if (minute < 0 || minute > 59 || !Take(s, ':')) return false;
  const int second = TakeNumber(s);
  if (second < 0 || second > 59) return false;
  if (s->size() > 1 && (s->front() == '.' || s->front() == ',') && IsDigit((*s)[1])) {
    s->remove_prefix(1);
    s->remove_prefix(Digits(*s));
  }
  return true;
}

bool TakeZone(std::string_view* s) {
  if (Take(s, 'Z')) return true;
  if (s->size() != 6 || !(s->front() == '+' || s->front() == '-')) return false;
  TakeSign(s);
  const int hours = TakeNumber(s);
  if (hours < 0 || hours > 24 || !Take(s, ':')) return false;
  const int minutes = Digits(*s) == 2 ? TakeNumber(s) : -1;
  return minutes >= 0 && minutes <= 60;
}

bool IsTimestamp(std::string_view s) {
  if (Digits(s) != 4) return false;
  const int year = std::atoi(std::string(s.substr(0, 4)).c_str());
  s.remove_prefix(4);
  if (!Take(&s, '-')) return false;
  const int month = TakeNumber(&s);
  if (month < 1 || month > 12 || !Take(&s, '-')) return false;
  const int day = TakeNumber(&s);
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day < 1 || day > kDays[month - 1] + (month == 2 && leap ? 1 : 0)) return false;
  if (s.empty()) return true;
  if (Take(&s, ' ')) return TakeClock(&s) && s.empty();
  if (!Take(&s, 'T') && !Take(&s, 't')) return false;
  return TakeClock(&s) && TakeZone(&s) && s.empty();
}

bool IsInteger(std::string_view s) {
  TakeSign(&s);
  const auto all = [&](std::string_view digits) {
    return !s.empty() && s.find_first_not_of(digits) == s.npos;
  };
  if (s.size() > 1 && s[0] == '0') {
    const char base = static_cast<char>(std::tolower(static_cast<unsigned char>(s[1])));
    if (base == 'x' || base == 'b' || base == 'o') {
      s.remove_prefix(2);
      if (base == 'x') return s.size() <= 16 && all("0123456789abcdefABCDEF");
      if (base == 'b') return s.size() <= 64 && all("01");
      return s.size() <= 21 && all("01234567");
    }
    return all("01234567");
  }
  return all("0123456789");
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?, within the range of a double.
bool IsFloat(std::string_view whole) {
  std::string_view s = whole;
  TakeSign(&s);
  const size_t before = Digits(s);
  s.remove_prefix(before);
  if (Take(&s, '.')) {
    const size_t after = Digits(s);
    if (before + after == 0) return false;
    s.remove_prefix(after);
  } else if (before == 0) {
    return false;
  }
  if (Take(&s, 'e') || Take(&s, 'E')) {
    TakeSign(&s);
    if (Digits(s) == 0) return false;
    s.remove_prefix(Digits(s));
  }
  return s.empty() && std::isfinite(std::strtod(std::string(whole).c_str(), nullptr));
}

// [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?, which is a number in YAML 1.1.
bool IsBase60(std::string_view s) {
  TakeSign(&s);
  if (s.empty() || !IsDigit(s[0])) return false;
  s.remove_prefix(std::min(s.find_first_not_of("0123456789_"), s.size()));
  if (!s.starts_with(':')) return false;
  while (Take(&s, ':')) {
    if (Digits(s) >= 2 && s[0] > '5') return false;
    if (TakeNumber(&s) < 0) return false;
  }
  if (Take(&s, '.')) s.remove_prefix(std::min(s.find_first_not_of("0123456789_"), s.size()));
  return s.empty();
}

bool IsBreakOrControl(std::string_view s, size_t i) {
  const auto at = [&](size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0; };
  const unsigned char c = at(i);
  if (c < 0x20 || c == 0x7F) return c != '\n';
  if (c == 0xC2) return at(i + 1) < 0xA0;                                      // C1, NEL
  if (c == 0xE2) return at(i + 1) == 0x80 && (at(i + 2) | 1) == 0xA9;          // LS, PS
  if (c == 0xEF && at(i + 1) == 0xBB && at(i + 2) == 0xBF) return true;        // BOM
  if (c == 0xEF && at(i + 1) == 0xBF && (at(i + 2) | 1) == 0xBF) return true;  // U+FFFE, U+FFFF
  return c >= 0xF0;
}

// The styles that are allowed for a text.
struct Shape {
  bool plain = true;  // for text of one line
  bool single_quoted = true;
  bool block = true;  // for text of several lines
};

Shape ShapeOf(std::string_view s) {
  Shape shape;
  if (s.starts_with("---") || s.starts_with("...")) shape.plain = false;
  const auto blank_at = [&](size_t i) { return i >= s.size() || s[i] == ' ' || s[i] == '\t'; };
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (i == 0 && std::string_view("#,[]{}&*!|>'\"%@`").find(c) != std::string_view::npos) {
      shape.plain = false;
    }
    if (i == 0 && (c == '?' || c == '-') && blank_at(1)) shape.plain = false;
    if (c == ':' && blank_at(i + 1)) shape.plain = false;
    if (c == '#' && i > 0 && (s[i - 1] == ' ' || s[i - 1] == '\t')) shape.plain = false;
    if (IsBreakOrControl(s, i)) shape = {false, false, false};
    if (c == '\n' && i > 0 && s[i - 1] == ' ') shape.block = false;
  }
  if (s.front() == ' ' || s.back() == ' ') shape.plain = false;
  if (s.back() == ' ') shape.block = false;
  return shape;
}

std::string Block(std::string_view text, size_t indent) {
  std::string out = "|";
  if (text.front() == ' ' || text.front() == '\n') out += '2';
  if (!text.ends_with('\n')) {
    out += '-';
  } else if (text.size() == 1 || text.ends_with("\n\n")) {
    out += '+';
  }
  out += '\n';
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end != 0) out += std::string(indent, ' ');
    out += text.substr(0, end);
    if (end == text.npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

// Appends text and folds it at blanks; columns are counted in characters.
class Folder {
 public:
  Folder(size_t indent, size_t column) : indent_(indent), column_(column) {}

  bool IsFull() const { return column_ > kWidth; }
  void Fold() {
    out_ += '\n';
    out_ += std::string(indent_, ' ');
    column_ = indent_;
  }
  void Add(std::string_view s) {
    out_ += s;
    for (const char c : s) column_ += (c & 0xC0) != 0x80;
  }
  std::string Take() { return std::move(out_); }

 private:
  size_t indent_;
  size_t column_;
  std::string out_;
};

std::string PlainOrSingle(std::string_view text, bool quoted, size_t indent, size_t column) {
  Folder out(indent, column);
  if (quoted) out.Add("'");
  bool after_blank = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && i + 1 < text.size();
    if (text[i] == ' ' && !after_blank && out.IsFull() && inside && text[i + 1] != ' ') {
      out.Fold();
    } else {
      out.Add(quoted && text[i] == '\'' ? "''" : text.substr(i, 1));
    }
    after_blank = text[i] == ' ';
  }
  if (quoted) out.Add("'");
  return out.Take();
}

std::string EscapeOf(uint32_t rune) {
  static constexpr std::string_view kRunes("\0\a\b\t\n\v\f\r\x1b\"\\", 11);
  static constexpr std::string_view kNames = "0abtnvfre\"\\";
  if (rune < 0x80) {
    const size_t known = kRunes.find(static_cast<char>(rune));
    if (known != kRunes.npos) return {'\\', kNames[known]};
  }
  if (rune == 0x85) return "\\N";
  if (rune == 0x2028) return "\\L";
  if (rune == 0x2029) return "\\P";
  if (rune <= 0xFF) return absl::StrFormat("\\x%02X", rune);
  return rune <= 0xFFFF ? absl::StrFormat("\\u%04X", rune) : absl::StrFormat("\\U%08X", rune);
}

std::string DoubleQuoted(std::string_view text, size_t indent, size_t column) {
  Folder out(indent, column);
  out.Add("\"");
  bool after_blank = false;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = text[i];
    size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    length = std::min(length, text.size() - i);
    if (IsBreakOrControl(text, i) || c == '"' || c == '\\' || c == '\n') {
      uint32_t rune = length == 1 ? c : c & (0x7F >> length);
      for (size_t k = 1; k < length; ++k) rune = rune << 6 | (text[i + k] & 0x3F);
      out.Add(EscapeOf(rune));
    } else if (c == ' ' && !after_blank && out.IsFull() && i > 0 && i + 1 < text.size()) {
      out.Fold();
      if (text[i + 1] == ' ') out.Add("\\");
    } else {
      out.Add(text.substr(i, length));
    }
    after_blank = c == ' ';
    i += length;
  }
  out.Add("\"");
  return out.Take();
}

}  // namespace

bool ReadsAsString(std::string_view text) {
  static const auto* const kWords = new absl::flat_hash_set<std::string>{
      "",      "~",    "null", "Null",  "NULL",  "y",     "Y",     "yes",   "Yes",   "YES",
      "n",     "N",    "no",   "No",    "NO",    "true",  "True",  "TRUE",  "false", "False",
      "FALSE", "on",   "On",   "ON",    "off",   "Off",   "OFF",   ".nan",  ".NaN",  ".NAN",
      ".inf",  ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};
  if (kWords->contains(std::string(text))) return false;
  if (std::string_view("+-.0123456789").find(text[0]) == std::string_view::npos) return true;
  if (text[0] == '.') {
    // Underscores are allowed only between digits.
    std::string digits;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '_') {
        digits += text[i];  // the first is the "."
      } else if (i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1])) {
        return true;
      }
    }
    return !IsFloat(digits);
  }
  if (IsTimestamp(text) || IsBase60(text)) return false;
  std::string number(text);
  std::erase(number, '_');
  return !IsInteger(number) && !IsFloat(number);
}

std::string YamlScalar(std::string_view text, size_t indent, size_t column) {
  if (text.empty()) return "\"\"";
  const Shape shape = ShapeOf(text);
  if (text.find('\n') != text.npos) {
    return shape.block ? Block(text, indent) : DoubleQuoted(text, indent, column);
  }
  if (!ReadsAsString(text)) return DoubleQuoted(text, indent, column);
  if (!shape.plain && !shape.single_quoted) return DoubleQuoted(text, indent, column);
  return PlainOrSingle(text, !shape.plain, indent, column);
}

}  // namespace mandate::rbacgen
