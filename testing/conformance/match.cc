#include "testing/conformance/match.h"

#include <re2/re2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

constexpr std::string_view kOnly = "<only>";
constexpr size_t kShown = 600;  // characters of a value in a message

const std::map<std::string, std::string, std::less<>>& Placeholders() {
  static const auto& all = *new std::map<std::string, std::string, std::less<>>{
      {"any", "[\\s\\S]*"},
      {"uid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
      {"rv", "[1-9][0-9]*"},
      {"int", "-?[0-9]+"},
      {"time", "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"},
      {"microtime", "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"},
      {"name", "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"},
  };
  return all;
}

void AppendLiteral(std::string_view text, std::string* regex) {
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) *regex += '\\';
    *regex += c;
  }
}

struct Placeholder {
  std::string regex;
  std::string variable;  // the variable to capture; empty: not captured
  size_t next = 0;
};

// The placeholder that starts with the < at text[at].
std::optional<Placeholder> PlaceholderAt(std::string_view text, size_t at) {
  const size_t end = text.find('>', at);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view inner = text.substr(at + 1, end - at - 1);
  Placeholder found{.regex = "", .variable = "", .next = end + 1};
  if (const size_t dollar = inner.rfind(" $"); dollar != std::string_view::npos) {
    const VariableReference reference = ReferenceAt(inner, dollar + 1);
    if (!reference.name.empty() && reference.next == inner.size()) {
      found.variable = std::string(reference.name);
      inner = inner.substr(0, dollar);
    }
  }
  if (inner.starts_with("~ ")) {
    found.regex = std::string(inner.substr(2));
    return found;
  }
  const auto known = Placeholders().find(inner);
  if (known == Placeholders().end()) return std::nullopt;
  found.regex = known->second;
  return found;
}

struct Pattern {
  std::string regex;
  std::vector<std::string> variables;  // one per group; empty: not captured
};

absl::StatusOr<Pattern> PatternOf(std::string_view text, const Variables& variables) {
  Pattern pattern;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '<') {
      if (const auto placeholder = PlaceholderAt(text, at)) {
        // Each placeholder is one group; groups inside it become non-capturing.
        std::string inner = placeholder->regex;
        for (size_t i = 0; i < inner.size(); ++i) {
          if (inner[i] == '\\') {
            ++i;
          } else if (inner[i] == '(' && (i + 1 == inner.size() || inner[i + 1] != '?')) {
            inner.insert(i + 1, "?:");
          }
        }
        StrAppend(&pattern.regex, "(", inner, ")");
        pattern.variables.push_back(placeholder->variable);
        at = placeholder->next;
        continue;
      }
    }
    size_t next = text[at] == '$' ? ReferenceAt(text, at).next : at + 1;
    ASSIGN_OR_RETURN(const std::string literal, Substitute(text.substr(at, next - at), variables));
    AppendLiteral(literal, &pattern.regex);
    at = next;
  }
  return pattern;
}

std::string Show(const Json::Value* value) {
  if (value == nullptr) return "nothing";
  std::string text = WriteJson(*value);
  if (text.size() > kShown) text = text.substr(0, kShown) + "…";
  return text;
}

absl::Status Mismatch(std::string_view expected, std::string_view got) {
  return absl::FailedPreconditionError(StrCat("expected ", expected, ", got ", got));
}

absl::Status Within(const std::string& step, absl::Status status) {
  if (status.ok()) return status;
  std::string_view message = AsStd(status.message());
  const bool leaf = message.starts_with("expected ") || message.starts_with("$");
  return absl::Status(status.code(), AsAbsl(StrCat(step, leaf ? ": " : "", message)));
}

absl::Status MatchList(const Json::Value& expected, const Json::Value& actual,
                       Variables& variables) {
  const bool some = !expected.empty() && expected[0].isString() && expected[0] == "<some>";
  if (!some) {
    if (expected.size() != actual.size()) {
      return Mismatch(StrCat(expected.size(), " elements"),
                      StrCat(actual.size(), ": ", Show(&actual)));
    }
    for (Json::ArrayIndex i = 0; i < expected.size(); ++i) {
      RETURN_IF_ERROR(Within(StrCat("[", i, "]"), MatchJson(expected[i], &actual[i], variables)));
    }
    return absl::OkStatus();
  }
  Json::ArrayIndex at = 0;
  for (Json::ArrayIndex i = 1; i < expected.size(); ++i) {
    for (;; ++at) {
      if (at == actual.size()) {
        return Mismatch(StrCat("an element ", Show(&expected[i])), Show(&actual));
      }
      if (MatchJson(expected[i], &actual[at], variables).ok()) break;
    }
    ++at;
  }
  return absl::OkStatus();
}

absl::Status MatchObject(const Json::Value& expected, const Json::Value& actual,
                         Variables& variables) {
  bool only = false;
  for (const std::string& key : expected.getMemberNames()) {
    if (key == kOnly) {
      only = true;
      continue;
    }
    ASSIGN_OR_RETURN(const std::string name, Substitute(key, variables));
    RETURN_IF_ERROR(
        Within(StrCat(".", name), MatchJson(expected[key], FindMember(actual, name), variables)));
  }
  if (!only) return absl::OkStatus();
  for (const std::string& key : actual.getMemberNames()) {
    bool named = false;
    for (const std::string& wanted : expected.getMemberNames()) {
      const auto name = Substitute(wanted, variables);
      named = named || (name.ok() && *name == key);
    }
    if (!named) return Within(StrCat(".", key), Mismatch("nothing", Show(&actual[key])));
  }
  return absl::OkStatus();
}

absl::Status MatchAbove(std::string_view expected, std::string_view actual,
                        const Variables& variables) {
  const std::string_view reference = expected.substr(7, expected.size() - 8);
  ASSIGN_OR_RETURN(const std::string bound, Substitute(reference, variables));
  int64_t low, high;
  if (absl::SimpleAtoi(bound, &low) && absl::SimpleAtoi(AsAbsl(actual), &high) && high > low) {
    return absl::OkStatus();
  }
  return Mismatch(StrCat("a number above ", bound), actual);
}

}  // namespace

absl::Status MatchText(std::string_view expected, std::string_view actual, Variables& variables) {
  if (expected.starts_with("<above $") && expected.ends_with(">")) {
    return MatchAbove(expected, actual, variables);
  }
  ASSIGN_OR_RETURN(const Pattern pattern, PatternOf(expected, variables));
  const re2::RE2 regex(pattern.regex, re2::RE2::Quiet);
  std::vector<re2::StringPiece> groups(pattern.variables.size() + 1);
  if (!regex.Match({actual.data(), actual.size()}, 0, actual.size(), re2::RE2::ANCHOR_BOTH,
                   groups.data(), static_cast<int>(groups.size()))) {
    const auto shown = Substitute(expected, variables);
    return Mismatch(StrCat("\"", shown.ok() ? *shown : std::string(expected), "\""),
                    StrCat("\"", actual.substr(0, kShown), "\""));
  }
  for (size_t i = 0; i < pattern.variables.size(); ++i) {
    if (!pattern.variables[i].empty()) variables[pattern.variables[i]] = std::string(groups[i + 1]);
  }
  return absl::OkStatus();
}

absl::Status MatchJson(const Json::Value& expected, const Json::Value* actual,
                       Variables& variables) {
  const std::string text = expected.isString() ? expected.asString() : "";
  if (text == "<absent>") {
    return actual == nullptr ? absl::OkStatus() : Mismatch("nothing", Show(actual));
  }
  if (actual == nullptr) return Mismatch(Show(&expected), "nothing");
  if (text == "<any>") return absl::OkStatus();
  if (expected.isArray() && actual->isArray()) return MatchList(expected, *actual, variables);
  if (expected.isObject() && actual->isObject()) return MatchObject(expected, *actual, variables);
  if (expected.isString()) {
    if (actual->isString()) return MatchText(text, actual->asString(), variables);
    const bool number = actual->isIntegral() && absl::StartsWith(text, "<");
    return number ? MatchText(text, actual->asString(), variables)
                  : Mismatch(Show(&expected), Show(actual));
  }
  return WriteJson(expected) == WriteJson(*actual) ? absl::OkStatus()
                                                   : Mismatch(Show(&expected), Show(actual));
}

}  // namespace mandate::conformance
