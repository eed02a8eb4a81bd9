#include "manager/object/json_cursor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"
#include "manager/object/json_text.h"

namespace mandate {
namespace {

// Bytes that need no special treatment inside a string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// The position of the first byte from `at` on that is not plain, or the text's end. It examines
// eight bytes at a time, because most of the input is long strings.
size_t SkipPlain(std::string_view text, size_t at) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x8080808080808080;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    const uint64_t quotes = word ^ (kOnes * '"');
    const uint64_t slashes = word ^ (kOnes * '\\');
    // Marks the high bit of each byte that is less than a space, is '"' or '\\', or is not ASCII. A
    // byte above a marked one may be marked wrongly, so a marked word is checked byte by byte.
    const uint64_t marks = (word - kOnes * ' ') | (quotes - kOnes) | (slashes - kOnes) | word;
    if ((marks & kHigh) != 0) break;
  }
  while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

std::string Found(std::string_view text, size_t at) {
  if (at >= text.size()) return "the end of the text";
  const char c = text[at];
  if (absl::ascii_isprint(static_cast<unsigned char>(c)))
    return StrCat("'", text.substr(at, 1), "'");
  return StrCat("byte 0x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
}

}  // namespace

JsonCursor::JsonCursor(std::string_view text, const JsonLimits& limits, const Place& from)
    : text_(text),
      at_(from.at),
      depth_(from.depth),
      max_depth_(limits.max_depth),
      containers_left_(limits.max_containers),
      first_(from.first) {
  if (text.size() > limits.max_bytes) {
    status_ = absl::InvalidArgumentError(
        StrCat("JSON of ", text.size(), " bytes is larger than the limit of ", limits.max_bytes));
  }
}

std::string JsonCursor::Position(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return StrCat("line ", line, ", column ", before.size() - line_start + 1);
}

bool JsonCursor::FailAt(size_t offset, std::string_view what) {
  if (status_.ok()) {
    status_ =
        absl::InvalidArgumentError(StrCat("invalid JSON at ", Position(text_, offset), ": ", what));
  }
  return false;
}

bool JsonCursor::Fail(std::string_view what) {
  return FailAt(at_, StrCat(what, ", found ", Found(text_, at_)));
}

bool JsonCursor::FailToFind(char expected, char close) {
  const std::string end = close == '\0' ? "" : StrCat(" or '", std::string_view(&close, 1), "'");
  return Fail(StrCat("expected '", std::string_view(&expected, 1), "'", end));
}

void JsonCursor::SkipMoreSpace() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
    ++at_;
  }
}

size_t JsonCursor::Offset() {
  SkipSpace();
  return at_;
}

JsonCursor::Token JsonCursor::Peek() {
  if (!status_.ok()) return Token::kInvalid;
  SkipSpace();
  if (at_ >= text_.size()) return Token::kInvalid;
  switch (text_[at_]) {
    case '{':
      return Token::kObject;
    case '[':
      return Token::kArray;
    case '"':
      return Token::kString;
    case 't':
    case 'f':
      return Token::kBool;
    case 'n':
      return Token::kNull;
    case '-':
      return Token::kNumber;
    default:
      return absl::ascii_isdigit(static_cast<unsigned char>(text_[at_])) ? Token::kNumber
                                                                         : Token::kInvalid;
  }
}

std::string_view JsonCursor::Describe(Token token) {
  static constexpr std::pair<Token, std::string_view> kTexts[] = {
      {Token::kObject, "an object"}, {Token::kArray, "an array"}, {Token::kString, "a string"},
      {Token::kNumber, "a number"},  {Token::kBool, "a boolean"}, {Token::kNull, "null"}};
  for (const auto& [one, text] : kTexts) {
    if (one == token) return text;
  }
  return "no value";
}

bool JsonCursor::Expect(char c) {
  if (!status_.ok()) return false;
  SkipSpace();
  if (at_ >= text_.size() || text_[at_] != c) return FailToFind(c);
  ++at_;
  return true;
}

bool JsonCursor::Enter(char open) {
  if (!Expect(open)) return false;
  if (depth_ >= max_depth_) {
    return FailAt(at_ - 1, StrCat("nested deeper than the limit of ", max_depth_));
  }
  if (containers_left_ == 0) return FailAt(at_ - 1, "too many objects and arrays");
  --containers_left_;
  ++depth_;
  first_ = true;
  return true;
}

bool JsonCursor::Leave(char close) {
  if (at_ >= text_.size() || text_[at_] != close) return false;
  ++at_;
  --depth_;
  first_ = false;
  return true;
}

// Consumes the comma before a member or element, or the end of the object or array.
bool JsonCursor::Separate(char close, bool* ended) {
  if (!status_.ok()) return false;
  SkipSpace();
  *ended = Leave(close);
  if (*ended) return false;
  if (!first_) {
    if (at_ >= text_.size() || text_[at_] != ',') return FailToFind(',', close);
    ++at_;
    SkipSpace();
  }
  first_ = false;
  return true;
}

bool JsonCursor::BeginObject() { return Enter('{'); }

bool JsonCursor::NextMember(std::string_view* key) {
  bool ended = false;
  if (!Separate('}', &ended)) return false;
  if (at_ >= text_.size() || text_[at_] != '"') return Fail("expected a member's name in quotes");
  return ReadString(key) && Expect(':');
}

bool JsonCursor::BeginArray() { return Enter('['); }

bool JsonCursor::NextElement() {
  bool ended = false;
  return Separate(']', &ended);
}

bool JsonCursor::ScanString(std::string_view* raw, bool* escaped) {
  if (!Expect('"')) return false;
  const size_t start = at_;
  *escaped = false;
  for (;;) {
    at_ = SkipPlain(text_, at_);
    if (at_ >= text_.size()) return FailAt(start - 1, "the string has no end");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '"') {
      *raw = text_.substr(start, at_ - start);
      ++at_;
      first_ = false;
      return true;
    }
    if (c == '\\') {
      *escaped = true;
      const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (kind == 'u') {
        for (size_t i = 2; i < 6; ++i) {
          if (at_ + i >= text_.size() ||
              !absl::ascii_isxdigit(static_cast<unsigned char>(text_[at_ + i]))) {
            return FailAt(at_, "\\u needs four hexadecimal digits");
          }
        }
        at_ += 6;
      } else if (kind != '\0' &&
                 std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos) {
        at_ += 2;
      } else {
        return FailAt(at_, "unknown escape in a string");
      }
    } else if (c < 0x20) {
      return Fail("a control character in a string must be escaped");
    } else {
      const size_t length = Utf8Length(text_.substr(at_));
      if (length == 0) return Fail("a string must be UTF-8");
      at_ += length;
    }
  }
}

bool JsonCursor::ReadString(std::string_view* value) {
  std::string_view raw;
  bool escaped = false;
  if (!ScanString(&raw, &escaped)) return false;
  if (escaped) {
    UnescapeJsonString(raw, unescaped_.emplace_front());
    raw = unescaped_.front();
  }
  *value = raw;
  return true;
}

// RFC 8259 section 6.
bool JsonCursor::ScanNumber() {
  const size_t start = at_;
  const auto digits = [&] {
    const size_t from = at_;
    while (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ > from;
  };
  const auto accept = [&](std::string_view any) {
    if (at_ >= text_.size() || any.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  };
  accept("-");
  if (accept("0")) {
    if (digits()) return FailAt(start, "a number must not start with 0");
  } else if (!digits()) {
    return Fail("expected a digit");
  }
  if (accept(".") && !digits()) return Fail("expected a digit after the decimal point");
  if (accept("eE")) {
    accept("+-");
    if (!digits()) return Fail("expected a digit in the exponent");
  }
  first_ = false;
  return true;
}

bool JsonCursor::ReadNumber(std::string_view* literal) {
  if (!status_.ok()) return false;
  SkipSpace();
  const size_t start = at_;
  if (!ScanNumber()) return false;
  *literal = text_.substr(start, at_ - start);
  return true;
}

bool JsonCursor::ScanWord(std::string_view word) {
  if (!status_.ok()) return false;
  SkipSpace();
  if (text_.substr(at_, word.size()) != word) return Fail(StrCat("expected ", word));
  at_ += word.size();
  first_ = false;
  return true;
}

bool JsonCursor::ReadBool(bool* value) {
  const bool is_true = Peek() == Token::kBool && text_[at_] == 't';
  if (!ScanWord(is_true ? "true" : "false")) return false;
  *value = is_true;
  return true;
}

bool JsonCursor::ReadNull() { return ScanWord("null"); }

bool JsonCursor::SkipScalar(Token token) {
  std::string_view ignored;
  bool flag = false;
  switch (token) {
    case Token::kString:
      return ScanString(&ignored, &flag);
    case Token::kNumber:
      return ScanNumber();
    case Token::kBool:
      return ReadBool(&flag);
    case Token::kNull:
      return ReadNull();
    default:
      return status_.ok() ? Fail("expected a value") : false;
  }
}

bool JsonCursor::NextWithin(char close, bool* ended) {
  if (!Separate(close, ended)) return false;
  if (close == ']') return true;
  if (at_ >= text_.size() || text_[at_] != '"') return Fail("expected a member's name in quotes");
  std::string_view ignored;
  bool escaped = false;
  return ScanString(&ignored, &escaped) && Expect(':');
}

// It has no recursion, so the use of the stack does not depend on the depth of the value.
bool JsonCursor::SkipValue(std::string_view* source) {
  const size_t start = Offset();
  std::string closers;  // the closing brackets of the open objects and arrays, the innermost last
  do {
    const Token token = Peek();
    if (token == Token::kObject || token == Token::kArray) {
      if (!Enter(text_[at_])) return false;
      closers += token == Token::kObject ? '}' : ']';
    } else if (!SkipScalar(token)) {
      return false;
    }
    bool ended = true;
    while (ended && !closers.empty()) {
      if (NextWithin(closers.back(), &ended)) break;
      if (!ended) return false;
      closers.pop_back();
    }
  } while (!closers.empty());
  if (source != nullptr) *source = text_.substr(start, at_ - start);
  return true;
}

absl::Status JsonCursor::Finish() {
  if (status_.ok()) {
    SkipSpace();
    if (at_ < text_.size()) Fail("expected nothing after the value");
  }
  return status_;
}

}  // namespace mandate
