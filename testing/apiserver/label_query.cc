#include "testing/apiserver/label_query.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/meta_rules.h"

namespace mandate::apiserver {
namespace {

using Operator = LabelRequirement::Operator;

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kSpecial = "=!(),<>";

// A token: a word, one of ! != = == > < ( ) , or "" at the end.
struct Token {
  bool IsWord() const { return !text.empty() && kSpecial.find(text[0]) == kSpecial.npos; }
  std::string text;
};

std::vector<Token> Tokens(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t at = 0; (at = text.find_first_not_of(kSpace, at)) < text.size();) {
    size_t end = at + 1;
    if (kSpecial.find(text[at]) == kSpecial.npos) {
      while (end < text.size() && kSpace.find(text[end]) == kSpace.npos &&
             kSpecial.find(text[end]) == kSpecial.npos) {
        ++end;
      }
    } else if ((text[at] == '!' || text[at] == '=') && end < text.size() && text[end] == '=') {
      ++end;
    }
    tokens.push_back({std::string(text.substr(at, end - at))});
    at = end;
  }
  return tokens;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(Tokens(text)) {}

  absl::StatusOr<std::vector<LabelRequirement>> Read() {
    std::vector<LabelRequirement> requirements;
    if (AtEnd()) return requirements;
    if (!Peek().IsWord() && Peek().text != "!") {
      return BadRequest(StrCat(Found(), ", expected: !, identifier, or 'end of string'"));
    }
    for (;;) {
      absl::StatusOr<LabelRequirement> requirement = Requirement();
      if (!requirement.ok()) {
        return BadRequest(
            StrCat("unable to parse requirement: ", AsStd(requirement.status().message())));
      }
      requirements.push_back(*std::move(requirement));
      if (AtEnd()) return requirements;
      if (Peek().text != ",") {
        return BadRequest(StrCat(Found(), ", expected: ',' or 'end of string'"));
      }
      ++at_;
      if (!Peek().IsWord() && Peek().text != "!") {
        return BadRequest(StrCat(Found(), ", expected: identifier after ','"));
      }
    }
  }

 private:
  bool AtEnd() const { return at_ >= tokens_.size(); }
  const Token& Peek() const {
    static const Token* const kEnd = new Token();
    return AtEnd() ? *kEnd : tokens_[at_];
  }
  bool Accept(std::string_view text) {
    if (AtEnd() || Peek().text != text) return false;
    ++at_;
    return true;
  }
  std::string Found() const { return StrCat("found '", Peek().text, "'"); }
  static absl::Status Error(const std::string& what) { return absl::InvalidArgumentError(what); }

  absl::StatusOr<LabelRequirement> Requirement() {
    LabelRequirement requirement;
    const bool absent = Accept("!");
    if (!Peek().IsWord()) return Error(StrCat(Found(), ", expected: identifier"));
    requirement.key = Peek().text;
    ++at_;
    if (const std::string problem = LabelKeyProblem(requirement.key); !problem.empty()) {
      return Error(StrCat("<nil>: Invalid value: ", rbac::Quote(requirement.key), ": ", problem));
    }
    requirement.op = absent ? Operator::kDoesNotExist : Operator::kExists;
    if (absent || AtEnd() || Peek().text == ",") return requirement;
    RETURN_IF_ERROR(Comparison(requirement));
    RETURN_IF_ERROR(CheckValues(requirement));
    return requirement;
  }

  absl::Status Comparison(LabelRequirement& requirement) {
    if (Accept("in") || Accept("notin")) {
      requirement.op = tokens_[at_ - 1].text == "in" ? Operator::kIn : Operator::kNotIn;
      return Set(requirement.values);
    }
    if (Accept("=") || Accept("==")) {
      requirement.op = Operator::kEquals;
    } else if (Accept("!=")) {
      requirement.op = Operator::kNotEquals;
    } else if (Accept(">")) {
      requirement.op = Operator::kGreater;
    } else if (Accept("<")) {
      requirement.op = Operator::kLess;
    } else {
      return Error(StrCat(Found(), ", expected: in, notin, =, ==, !=, gt, lt"));
    }
    requirement.values = {""};
    if (AtEnd() || Peek().text == ",") return absl::OkStatus();
    if (!Peek().IsWord()) return Error(StrCat(Found(), ", expected: identifier"));
    requirement.values = {Peek().text};
    ++at_;
    return absl::OkStatus();
  }

  // "(a,b)". An absent value inside the parentheses or next to a comma is the empty value.
  absl::Status Set(std::vector<std::string>& values) {
    if (!Accept("(")) return Error(StrCat(Found(), " expected: '('"));
    if (Accept(")")) {
      values.push_back("");
      return absl::OkStatus();
    }
    if (!Peek().IsWord() && Peek().text != ",") {
      return Error(StrCat(Found(), ", expected: ',', ')' or identifier"));
    }
    for (;;) {
      if (Peek().IsWord()) {
        values.push_back(Peek().text);
        ++at_;
        if (Peek().text != "," && Peek().text != ")") {
          return Error(StrCat(Found(), ", expected: ',' or ')'"));
        }
      } else {
        values.push_back("");
      }
      if (Accept(")")) return absl::OkStatus();
      if (!Accept(",")) return Error(StrCat(Found(), ", expected: ',', or identifier"));
    }
  }

  static absl::Status CheckValues(const LabelRequirement& requirement) {
    for (size_t i = 0; i < requirement.values.size(); ++i) {
      const std::string& value = requirement.values[i];
      int64_t number = 0;
      if ((requirement.op == Operator::kGreater || requirement.op == Operator::kLess) &&
          !absl::SimpleAtoi(value, &number)) {
        return Error(StrCat("values[", i, "]: Invalid value: ", rbac::Quote(value),
                            ": for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      if (const std::string problem = LabelValueProblem(value); !problem.empty()) {
        return Error(StrCat("values[", i, "][", requirement.key,
                            "]: Invalid value: ", rbac::Quote(value), ": ", problem));
      }
    }
    return absl::OkStatus();
  }

  const std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<LabelSelector> ParseLabelQuery(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<LabelRequirement> requirements, Reader(text).Read());
  absl::StatusOr<LabelSelector> selector = LabelSelector::Create(std::move(requirements));
  if (!selector.ok()) {
    return BadRequest(StrCat("unable to parse requirement: ", AsStd(selector.status().message())));
  }
  return selector;
}

}  // namespace mandate::apiserver
