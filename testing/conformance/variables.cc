#include "testing/conformance/variables.h"

#include "absl/strings/ascii.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::conformance {
namespace {

bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

VariableReference ReferenceAt(std::string_view text, size_t at) {
  size_t begin = at + 1;
  if (begin < text.size() && text[begin] == '$') return {"", begin + 1};
  const bool braces = begin < text.size() && text[begin] == '{';
  if (braces) ++begin;
  size_t end = begin;
  while (end < text.size() && IsNamePart(text[end])) ++end;
  const bool name = end > begin && absl::ascii_isalpha(static_cast<unsigned char>(text[begin]));
  const bool closed = !braces || (end < text.size() && text[end] == '}');
  if (!name || !closed) return {"", at + 1};
  return {text.substr(begin, end - begin), end + (braces ? 1 : 0)};
}

absl::StatusOr<std::string> Substitute(std::string_view text, const Variables& variables) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    const VariableReference reference = ReferenceAt(text, at);
    at = reference.next;
    if (reference.name.empty()) {
      out += '$';
      continue;
    }
    const auto found = variables.find(reference.name);
    if (found == variables.end()) {
      return absl::NotFoundError(StrCat("$", reference.name, " was never set"));
    }
    out += found->second;
  }
  return out;
}

absl::StatusOr<Json::Value> SubstituteAll(const Json::Value& value, const Variables& variables) {
  if (value.isString()) {
    ASSIGN_OR_RETURN(const std::string text, Substitute(value.asString(), variables));
    return Json::Value(text);
  }
  Json::Value out = value;
  if (value.isArray()) {
    for (Json::Value& element : out) {
      ASSIGN_OR_RETURN(element, SubstituteAll(Json::Value(element), variables));
    }
  } else if (value.isObject()) {
    out = Json::Value(Json::objectValue);
    for (const std::string& key : value.getMemberNames()) {
      ASSIGN_OR_RETURN(const std::string name, Substitute(key, variables));
      ASSIGN_OR_RETURN(out[name], SubstituteAll(value[key], variables));
    }
  }
  return out;
}

}  // namespace mandate::conformance
