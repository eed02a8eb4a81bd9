// kubectl's syntax of label selectors (apimachinery pkg/labels).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/selector.h"

namespace mandate {
namespace {

using Operator = LabelRequirement::Operator;

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kSpecial = "=!(),<>";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<LabelRequirement>> Parse() {
    std::vector<LabelRequirement> requirements;
    SkipSpace();
    if (AtEnd()) return requirements;
    for (;;) {
      ASSIGN_OR_RETURN(requirements.emplace_back(), Requirement());
      if (AtEnd()) return requirements;
      if (!Accept(",")) return Error("expected ','");
    }
  }

 private:
  absl::StatusOr<LabelRequirement> Requirement() {
    LabelRequirement requirement;
    const bool absent = Accept("!");
    requirement.key = Word();
    if (requirement.key.empty()) return Error("expected a label's key");
    SkipSpace();
    if (absent) {
      requirement.op = Operator::kDoesNotExist;
      return requirement;
    }
    if (AtEnd() || text_[at_] == ',') return requirement;  // exists
    if (Accept("!=")) {
      requirement.op = Operator::kNotEquals;
      requirement.values = {Word()};
    } else if (Accept("==") || Accept("=")) {
      requirement.op = Operator::kEquals;
      requirement.values = {Word()};
    } else if (Accept(">")) {
      requirement.op = Operator::kGreater;
      requirement.values = {Word()};
    } else if (Accept("<")) {
      requirement.op = Operator::kLess;
      requirement.values = {Word()};
    } else {
      const size_t start = at_;
      const std::string word = Word();
      if (word != "in" && word != "notin") {
        at_ = start;
        return Error("expected one of =, ==, !=, in, notin, >, <");
      }
      requirement.op = word == "in" ? Operator::kIn : Operator::kNotIn;
      RETURN_IF_ERROR(Values(&requirement.values));
    }
    SkipSpace();
    return requirement;
  }

  // "(a, b)". No text between two commas means the empty value, and so does "()".
  absl::Status Values(std::vector<std::string>* values) {
    if (!Accept("(")) return Error("expected '('");
    for (;;) {
      values->push_back(Word());
      if (Accept(")")) return absl::OkStatus();
      if (!Accept(",")) return Error("expected ',' or ')'");
    }
  }

  bool AtEnd() const { return at_ >= text_.size(); }

  void SkipSpace() {
    while (!AtEnd() && kSpace.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool Accept(std::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  // The text up to white space or a special character; may be empty.
  std::string Word() {
    SkipSpace();
    const size_t start = at_;
    while (!AtEnd() && kSpace.find(text_[at_]) == std::string_view::npos &&
           kSpecial.find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  absl::Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(
        StrCat("selector \"", text_, "\": ", what, " at column ", at_ + 1));
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<LabelSelector> LabelSelector::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<LabelRequirement> requirements, Parser(text).Parse());
  absl::StatusOr<LabelSelector> selector = Create(std::move(requirements));
  if (selector.ok()) return selector;
  return absl::InvalidArgumentError(
      StrCat("selector \"", text, "\": ", selector.status().message()));
}

}  // namespace mandate
