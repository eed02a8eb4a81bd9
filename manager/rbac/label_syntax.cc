#include "manager/rbac/label_syntax.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"

namespace mandate::rbac {
namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;

// "in" and "notin" are words; where an operator is due they are one.
enum class Kind { kEnd, kWord, kOpen, kClose, kComma, kNot, kEquals, kNotEquals, kOrder };

struct Token {
  Kind kind;
  std::string_view text;
};

bool IsSymbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }
bool IsBlank(char c) { return std::string_view(" \t\r\n").find(c) != std::string_view::npos; }

Kind KindOfSymbol(std::string_view symbol) {
  if (symbol == "!=") return Kind::kNotEquals;
  switch (symbol.front()) {
    case '(':
      return Kind::kOpen;
    case ')':
      return Kind::kClose;
    case ',':
      return Kind::kComma;
    case '!':
      return Kind::kNot;
    case '=':
      return Kind::kEquals;
    default:
      return Kind::kOrder;
  }
}

std::vector<Token> Scan(std::string_view text) {
  std::vector<Token> tokens;
  size_t at = 0;
  for (;;) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    // Upstream's scanner takes a NUL for the end.
    if (at == text.size() || text[at] == '\0') break;
    if (IsSymbol(text[at])) {
      const std::string_view pair = text.substr(at, 2);
      const std::string_view symbol = pair == "==" || pair == "!=" ? pair : pair.substr(0, 1);
      tokens.push_back({KindOfSymbol(symbol), symbol});
      at += symbol.size();
      continue;
    }
    const size_t start = at;
    while (at < text.size() && text[at] != '\0' && !IsSymbol(text[at]) && !IsBlank(text[at])) ++at;
    tokens.push_back({Kind::kWord, text.substr(start, at - start)});
    if (at < text.size() && text[at] == '\0') ++at;
  }
  tokens.push_back({Kind::kEnd, ""});
  return tokens;
}

bool IsLabelName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLabel && absl::ascii_isalnum(name.front()) &&
         absl::ascii_isalnum(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

bool IsDnsLabel(std::string_view label) {
  const auto alnum = [](char c) { return absl::ascii_isdigit(c) || absl::ascii_islower(c); };
  return !label.empty() && alnum(label.front()) && alnum(label.back()) &&
         std::all_of(label.begin(), label.end(), [&](char c) { return alnum(c) || c == '-'; });
}

bool IsSubdomain(std::string_view name) {
  if (name.size() > kMaxSubdomain) return false;
  for (;;) {
    const size_t dot = name.find('.');
    if (!IsDnsLabel(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool IsLabelKey(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return IsLabelName(key);
  return IsSubdomain(key.substr(0, slash)) && IsLabelName(key.substr(slash + 1));
}

bool IsLabelValue(std::string_view value) { return value.empty() || IsLabelName(value); }

bool IsNumber(std::string_view value) {
  int64_t number;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && stop == end;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(Scan(text)) {}

  bool Selector() {
    while (Peek() != Kind::kEnd) {
      if (!Requirement()) return false;
      const Kind next = Next().kind;
      if (next == Kind::kEnd) return true;
      if (next != Kind::kComma || (Peek() != Kind::kWord && Peek() != Kind::kNot)) return false;
    }
    return true;
  }

 private:
  Kind Peek() const { return tokens_[at_].kind; }
  // The end is never passed.
  Token Next() { return Peek() == Kind::kEnd ? tokens_[at_] : tokens_[at_++]; }

  bool Requirement() {
    Token token = Next();
    const bool absent = token.kind == Kind::kNot;
    if (absent) token = Next();
    if (token.kind != Kind::kWord || !IsLabelKey(token.text)) return false;
    if (absent || Peek() == Kind::kEnd || Peek() == Kind::kComma) return true;

    const Token op = Next();
    switch (op.kind) {
      case Kind::kWord:
        return (op.text == "in" || op.text == "notin") && Set();
      case Kind::kEquals:
      case Kind::kNotEquals:
        return Value(/*number=*/false);
      case Kind::kOrder:
        return Value(/*number=*/true);
      default:
        return false;
    }
  }

  bool Value(bool number) {
    if (Peek() == Kind::kEnd || Peek() == Kind::kComma) return !number;
    const Token token = Next();
    return token.kind == Kind::kWord && IsLabelValue(token.text) &&
           (!number || IsNumber(token.text));
  }

  // Commas may stand alone, for empty values; words need one between them.
  bool Set() {
    if (Next().kind != Kind::kOpen) return false;
    for (;;) {
      const Token token = Next();
      if (token.kind == Kind::kClose) return true;
      if (token.kind == Kind::kComma) continue;
      if (token.kind != Kind::kWord || !IsLabelValue(token.text)) return false;
      if (Peek() != Kind::kComma && Peek() != Kind::kClose) return false;
    }
  }

  const std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

bool IsLabelSelector(std::string_view selector) { return Parser(selector).Selector(); }

}  // namespace mandate::rbac
