#include "rbacgen/markers/marker_arguments.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {

Marker SplitMarker(std::string_view text) {
  const std::string_view head = text.substr(0, text.find('='));
  if (head.size() == text.size()) return {text, {}};
  const size_t colon = head.rfind(':');
  // "a=x" is the marker a without arguments of this grammar.
  if (colon == head.npos) return {head, text.substr(head.size())};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

class ArgumentParser {
 public:
  ArgumentParser(std::span<const ArgumentSpec> specs, Repeated repeated, std::string_view text)
      : specs_(specs), repeated_(repeated), text_(text) {}

  absl::StatusOr<Arguments> Parse() {
    if (!IsUtf8(text_)) return absl::InvalidArgumentError("the marker is not UTF-8");
    if (!text_.empty()) {
      do {
        RETURN_IF_ERROR(Argument());
        SkipBlanks();
      } while (Take(','));
    }
    if (!AtEnd()) {
      return absl::InvalidArgumentError(
          StrCat("expected \",\" or the end of the line, got ", Quoted(text_.substr(at_))));
    }
    for (const ArgumentSpec& spec : specs_) {
      if (spec.required && !arguments_.Has(spec.name)) {
        return absl::InvalidArgumentError(StrCat("missing argument ", Quoted(spec.name)));
      }
    }
    return std::move(arguments_);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  bool AtDelimiter() const { return AtEnd() || Peek() == ',' || Peek() == ';' || Peek() == '}'; }
  void SkipBlanks() {
    while (!AtEnd() && IsBlank(Peek())) ++at_;
  }
  bool Take(char c) {
    if (AtEnd() || Peek() != c) return false;
    ++at_;
    return true;
  }
  std::string Here() const {
    return AtEnd() ? "the end of the line" : Quoted(text_.substr(at_, 1));
  }

  absl::Status Argument() {
    SkipBlanks();
    const size_t start = at_;
    while (!AtEnd() && (std::isalnum(static_cast<unsigned char>(Peek())) || Peek() == '_')) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) {
      return absl::InvalidArgumentError(StrCat("expected the name of an argument, got ", Here()));
    }
    SkipBlanks();
    if (!Take('=')) {
      return absl::InvalidArgumentError(
          StrCat("expected \"=\" after ", Quoted(name), ", got ", Here()));
    }
    const auto spec = std::find_if(specs_.begin(), specs_.end(),
                                   [&](const ArgumentSpec& s) { return s.name == name; });
    if (spec == specs_.end()) {
      const auto names = [](std::string* out, const ArgumentSpec& s) {
        absl::StrAppend(out, AsAbsl(s.name));
      };
      return absl::InvalidArgumentError(StrCat("unknown argument ", Quoted(name),
                                               "; the known arguments are ",
                                               absl::StrJoin(specs_, ", ", names)));
    }
    if (arguments_.Has(name)) {
      if (repeated_ == Repeated::kIsError) {
        return absl::InvalidArgumentError(StrCat("argument ", Quoted(name), " is given twice"));
      }
      arguments_.repeated_.emplace_back(name);
    }
    ASSIGN_OR_RETURN(Arguments::Value value, ValueOf(*spec));
    std::erase_if(arguments_.values_, [&](const auto& given) { return given.first == spec->name; });
    arguments_.values_.emplace_back(spec->name, std::move(value));
    return absl::OkStatus();
  }

  absl::StatusOr<Arguments::Value> ValueOf(const ArgumentSpec& spec) {
    SkipBlanks();
    switch (spec.type) {
      case ArgumentType::kString:
        if (AtEnd()) return std::string();
        return String("argument ", spec);
      case ArgumentType::kStrings:
        return Take('{') ? BracedList(spec) : BareList(spec);
      case ArgumentType::kInt: {
        const std::string_view word = Word();
        int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size()) {
          return absl::InvalidArgumentError(
              StrCat("argument ", Quoted(spec.name), " must be an integer, got ", Quoted(word)));
        }
        return value;
      }
      case ArgumentType::kBool: {
        const std::string_view word = Word();
        if (word == "true") return true;
        if (word == "false") return false;
        return absl::InvalidArgumentError(
            StrCat("argument ", Quoted(spec.name), " must be true or false, got ", Quoted(word)));
      }
    }
    return absl::InternalError("unknown type of argument");
  }

  std::string_view Word() {
    const size_t start = at_;
    while (!AtDelimiter() && !IsBlank(Peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  absl::StatusOr<Arguments::Value> BracedList(const ArgumentSpec& spec) {
    std::vector<std::string> items;
    for (SkipBlanks(); !AtEnd() && Peek() != '}'; SkipBlanks()) {
      ASSIGN_OR_RETURN(std::string item, Item(spec));
      items.push_back(std::move(item));
      SkipBlanks();
      if (Peek() == '}' || AtEnd()) break;
      if (!Take(',')) {
        return absl::InvalidArgumentError(
            StrCat("expected \",\" between the items of ", Quoted(spec.name), ", got ", Here()));
      }
    }
    if (!Take('}')) {
      return absl::InvalidArgumentError(
          StrCat("expected \"}\" after the items of ", Quoted(spec.name), ", got ", Here()));
    }
    return items;
  }

  absl::StatusOr<Arguments::Value> BareList(const ArgumentSpec& spec) {
    std::vector<std::string> items;
    while (!AtEnd() && Peek() != ',' && Peek() != '}') {
      ASSIGN_OR_RETURN(std::string item, Item(spec));
      items.push_back(std::move(item));
      SkipBlanks();
      if (AtEnd() || Peek() == ',' || Peek() == '}') break;
      if (!Take(';')) {
        return absl::InvalidArgumentError(
            StrCat("expected \";\" between the items of ", Quoted(spec.name), ", got ", Here()));
      }
      SkipBlanks();
    }
    return items;
  }

  absl::StatusOr<std::string> Item(const ArgumentSpec& spec) { return String("an item of ", spec); }

  // `what` and the spec's name describe the string in errors.
  absl::StatusOr<std::string> String(std::string_view what, const ArgumentSpec& spec) {
    SkipBlanks();
    if (Peek() == '"' || Peek() == '`') {
      ASSIGN_OR_RETURN(const std::string_view literal, Literal());
      std::string value;
      if (!UnquoteGo(literal, &value)) {
        return absl::InvalidArgumentError(
            StrCat(what, Quoted(spec.name), " is not a valid string: ", literal));
      }
      return value;
    }
    if (AtDelimiter())
      return absl::InvalidArgumentError(StrCat(what, Quoted(spec.name), " has no value"));
    const size_t start = at_;
    while (!AtDelimiter()) {
      if (Peek() == '"' || Peek() == '`') {
        RETURN_IF_ERROR(Literal().status());  // delimiters within the literal do not count
      } else {
        ++at_;
      }
    }
    if (IsBlank(text_[at_ - 1])) {
      return absl::InvalidArgumentError(StrCat(what, Quoted(spec.name), " has a space before ",
                                               Here(), "; remove the space, or quote the value"));
    }
    return std::string(text_.substr(start, at_ - start));
  }

  // The string literal that begins here, with its quotes.
  absl::StatusOr<std::string_view> Literal() {
    const size_t start = at_;
    const char quote = text_[at_++];
    for (; !AtEnd(); ++at_) {
      if (quote == '"' && Peek() == '\\') {
        ++at_;
      } else if (Peek() == quote) {
        ++at_;
        return text_.substr(start, at_ - start);
      }
    }
    at_ = text_.size();
    return absl::InvalidArgumentError(StrCat("a string is not closed: ", text_.substr(start)));
  }

  std::span<const ArgumentSpec> specs_;
  Repeated repeated_;
  std::string_view text_;
  size_t at_ = 0;
  Arguments arguments_;
};

absl::StatusOr<Arguments> ParseArguments(std::span<const ArgumentSpec> specs, Repeated repeated,
                                         std::string_view text) {
  return ArgumentParser(specs, repeated, text).Parse();
}

}  // namespace mandate::rbacgen
