#include "rbacgen/markers/source_comments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

namespace mandate::rbacgen {
namespace {

const std::map<std::string_view, Language>& Suffixes() {
  static const auto* const kSuffixes = new std::map<std::string_view, Language>{
      {"c", Language::kC},
      {"h", Language::kC},
      {"cc", Language::kC},
      {"cpp", Language::kC},
      {"cxx", Language::kC},
      {"hh", Language::kC},
      {"hpp", Language::kC},
      {"hxx", Language::kC},
      {"inc", Language::kC},
      {"m", Language::kC},
      {"mm", Language::kC},
      {"go", Language::kGo},
      {"rs", Language::kRust},
      {"js", Language::kScript},
      {"jsx", Language::kScript},
      {"mjs", Language::kScript},
      {"ts", Language::kScript},
      {"tsx", Language::kScript},
      {"java", Language::kTextBlock},
      {"kt", Language::kTextBlock},
      {"kts", Language::kTextBlock},
      {"swift", Language::kTextBlock},
      {"scala", Language::kTextBlock},
      {"cs", Language::kTextBlock},
      {"dart", Language::kTextBlock},
      {"proto", Language::kPlain},
      {"zig", Language::kPlain},
      {"d", Language::kPlain},
  };
  return *kSuffixes;
}

std::string_view SuffixOf(std::string_view path) {
  const size_t dot = path.rfind('.');
  const size_t slash = path.rfind('/');
  if (dot == path.npos || (slash != path.npos && dot < slash)) return {};
  return path.substr(dot + 1);
}

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view Trim(std::string_view s) {
  while (!s.empty() && IsBlank(s.front())) s.remove_prefix(1);
  while (!s.empty() && IsBlank(s.back())) s.remove_suffix(1);
  return s;
}

// Whether any // comment may begin with "+". Most files have no such comment, and searching for the
// sign is several times faster than scanning the file.
bool MayHavePlusComment(std::string_view source) {
  for (size_t at = source.find('+'); at != source.npos; at = source.find('+', at + 1)) {
    size_t before = at;
    while (before > 0 && IsBlank(source[before - 1])) --before;
    if (before > 0 && (source[before - 1] == '/' || source[before - 1] == '!')) return true;
  }
  return false;
}

// Some editors put this before a file's first line; it has no meaning here.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The characters that the scanner must examine; all others are code.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops = {};
  for (const char c : {'\n', '/', '"', '\'', '`'}) stops[static_cast<unsigned char>(c)] = true;
  return stops;
}();

// Scans the source once. An unterminated comment or literal ends with the file or, if it cannot
// span lines, with the line.
class Scanner {
 public:
  Scanner(std::string_view source, Language language) : source_(source), language_(language) {}

  std::vector<PlusComment> Scan() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        NextLine();
      } else if (IsBlank(c)) {
        ++at_;
      } else if (c == '/' && Peek(1) == '/') {
        LineComment();
      } else if (c == '/' && Peek(1) == '*') {
        BlockComment();
      } else if (c == '"') {
        Quote();
      } else if (c == '\'') {
        Apostrophe();
      } else if (c == '`' && (language_ == Language::kGo || language_ == Language::kScript)) {
        Backquote();
      } else {
        if (at_ == line_start_ && language_ == Language::kGo) NoteTopLevel();
        code_on_line_ = true;
        do {
          ++at_;
        } while (at_ < source_.size() && !kStops[static_cast<unsigned char>(source_[at_])]);
      }
    }
    return std::move(found_);
  }

 private:
  char Peek(size_t ahead) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool StartsWith(std::string_view s) const { return source_.substr(at_).starts_with(s); }

  void NextLine() {
    ++line_;
    line_start_ = ++at_;
    code_on_line_ = false;
  }

  // Called at the beginning of a top-level declaration of Go, as gofmt writes it.
  void NoteTopLevel() {
    if (StartsWith("func")) in_function_ = true;
    for (const char* other : {"type", "var", "const", "import", "package"}) {
      if (StartsWith(other)) in_function_ = false;
    }
  }
  // Whether the position is after the brace that ends a function; the function may begin on the
  // same line.
  bool IsBehindFunction() const {
    const std::string_view code = Trim(source_.substr(line_start_, at_ - line_start_));
    const bool at_top_level = !code.empty() && code.data() == source_.data() + line_start_;
    return in_function_ && at_top_level && (code == "}" || code.starts_with("func")) &&
           code.ends_with('}');
  }

  // Goes to `end` and counts the lines up to it.
  void SkipTo(size_t end) {
    line_ += static_cast<int>(std::count(source_.begin() + at_, source_.begin() + end, '\n'));
    at_ = end;
    code_on_line_ = true;
  }

  void SkipPast(std::string_view closing, size_t from) {
    const size_t end = source_.find(closing, from);
    SkipTo(end == source_.npos ? source_.size() : end + closing.size());
  }

  void LineComment() {
    const size_t end = std::min(source_.find('\n', at_), source_.size());
    std::string_view text = source_.substr(at_ + 2, end - at_ - 2);
    const bool after_code = code_on_line_ && !IsBehindFunction();
    CommentPlace place = after_code ? CommentPlace::kAfterCode : CommentPlace::kOwnLine;
    if (!text.empty() && (text[0] == '/' || text[0] == '!')) {
      if (place == CommentPlace::kOwnLine) place = CommentPlace::kDoc;
      text.remove_prefix(1);
    }
    text = Trim(text);
    const bool goes_on = place == CommentPlace::kOwnLine && !found_.empty() &&
                         found_.back().line == line_ - 1 &&
                         (found_.back().place == CommentPlace::kOwnLine ||
                          found_.back().place == CommentPlace::kContinued);
    if (text.starts_with('+')) {
      found_.push_back({line_, place, text});
    } else if (goes_on && !text.empty()) {
      found_.push_back({line_, CommentPlace::kContinued, text});
    }
    at_ = end;
  }

  void BlockComment() {
    const bool code = code_on_line_;
    if (language_ != Language::kRust) {
      SkipPast("*/", at_ + 2);
    } else {
      int depth = 0;
      do {
        if (StartsWith("/*")) {
          ++depth;
          at_ += 2;
        } else if (StartsWith("*/")) {
          --depth;
          at_ += 2;
        } else {
          line_ += source_[at_] == '\n';
          ++at_;
        }
      } while (depth > 0 && at_ < source_.size());
    }
    code_on_line_ = code;
  }

  void Quote() {
    if (language_ == Language::kTextBlock && StartsWith("\"\"\"")) {
      SkipPast("\"\"\"", at_ + 3);
    } else if (language_ == Language::kC && IsRawPrefix()) {
      const size_t open = source_.find('(', at_);
      if (open == source_.npos) return SkipTo(source_.size());
      SkipPast(")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"", open);
    } else if (const int hashes = RustHashes(); hashes >= 0) {
      SkipPast("\"" + std::string(hashes, '#'), at_ + 1);
    } else {
      Literal('"', /*spans_lines=*/language_ == Language::kRust);
    }
  }

  void Backquote() {
    if (language_ == Language::kGo) {
      SkipPast("`", at_ + 1);
    } else {
      Literal('`', /*spans_lines=*/true);
    }
  }

  // The word that ends just before at_.
  std::string_view WordBefore() const {
    size_t start = at_;
    while (start > 0 && IsWord(source_[start - 1])) --start;
    return source_.substr(start, at_ - start);
  }

  bool IsRawPrefix() const {
    const std::string_view word = WordBefore();
    return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
  }

  // The number of # between r and the quote of a raw string; -1 if this is not a raw string.
  int RustHashes() const {
    if (language_ != Language::kRust) return -1;
    size_t start = at_;
    while (start > 0 && source_[start - 1] == '#') --start;
    const int hashes = static_cast<int>(at_ - start);
    size_t word = start;
    while (word > 0 && IsWord(source_[word - 1])) --word;
    const std::string_view prefix = source_.substr(word, start - word);
    return prefix == "r" || prefix == "br" || prefix == "cr" ? hashes : -1;
  }

  void Apostrophe() {
    if (language_ == Language::kC) {
      const std::string_view word = WordBefore();
      const bool separator = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0]));
      if (separator) return SkipMark();
    }
    if (language_ == Language::kRust && Peek(1) != '\\') {
      size_t end = at_ + 2;  // skips one character of one or more bytes
      while (end < source_.size() && (source_[end] & 0xC0) == 0x80) ++end;
      if (end >= source_.size() || source_[end] != '\'') return SkipMark();  // a lifetime
    }
    Literal('\'', /*spans_lines=*/false);
  }

  // Skips an apostrophe in code. The digits before it or the name after it show that the line has
  // code.
  void SkipMark() { ++at_; }

  // Skips a literal with backslash escapes. A backslash at the end of a line continues the literal.
  void Literal(char closing, bool spans_lines) {
    size_t end = at_ + 1;
    for (; end < source_.size(); ++end) {
      const char c = source_[end];
      if (c == '\\' && end + 1 < source_.size()) {
        ++end;
        if (source_[end] == '\r' && end + 1 < source_.size() && source_[end + 1] == '\n') ++end;
      } else if (c == closing) {
        ++end;
        break;
      } else if (c == '\n' && !spans_lines) {
        break;
      }
    }
    SkipTo(std::min(end, source_.size()));
  }

  std::string_view source_;
  Language language_;
  size_t at_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;
  bool code_on_line_ = false;
  bool in_function_ = false;  // for Go: the last top-level declaration is a function
  std::vector<PlusComment> found_;
};

}  // namespace

Language LanguageOf(std::string_view path) {
  const auto found = Suffixes().find(SuffixOf(path));
  return found == Suffixes().end() ? Language::kPlain : found->second;
}

bool IsSource(std::string_view path) { return Suffixes().contains(SuffixOf(path)); }

std::vector<PlusComment> FindPlusComments(std::string_view source, Language language) {
  if (source.starts_with(kByteOrderMark)) source.remove_prefix(kByteOrderMark.size());
  if (!MayHavePlusComment(source)) return {};
  return Scanner(source, language).Scan();
}

}  // namespace mandate::rbacgen
