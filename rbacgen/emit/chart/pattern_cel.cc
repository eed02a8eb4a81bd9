#include "rbacgen/emit/chart/pattern_cel.h"

#include <cctype>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

std::string PatternCel(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return StrCat(text, " == ", CelLiteral(pattern));
  if (pattern == "*") return "true";
  const std::string_view rest = pattern.substr(star + 1);
  if (rest.empty()) return StrCat(text, ".startsWith(", CelLiteral(pattern.substr(0, star)), ")");
  if (star == 0 && rest.find('*') == rest.npos) {
    return StrCat(text, ".endsWith(", CelLiteral(rest), ")");
  }
  std::string regex;
  for (const char c : pattern) {
    if (c == '*') {
      regex += ".*";
    } else {
      // In RE2, a backslash before any punctuation makes it literal.
      if (std::ispunct(static_cast<unsigned char>(c)) != 0) regex += '\\';
      regex += c;
    }
  }
  return StrCat(text, ".matches(", CelLiteral(StrCat("^", regex, "$")), ")");
}

std::string Any(const Strings& terms) {
  return terms.size() == 1 ? terms[0] : StrCat("(", AsStd(absl::StrJoin(terms, " || ")), ")");
}

// Combines the patterns; `term` makes an expression from a pattern without its "!".
template <class Term>
std::string Combine(const Strings& patterns, Term term) {
  Strings allowed, excluded;
  for (const std::string_view pattern : patterns) {
    if (pattern.starts_with('!')) {
      excluded.push_back(term(pattern.substr(1)));
    } else {
      allowed.push_back(term(pattern));
    }
  }
  Strings all;
  if (!allowed.empty()) all.push_back(Any(allowed));
  if (!excluded.empty()) all.push_back(StrCat("!(", AsStd(absl::StrJoin(excluded, " || ")), ")"));
  return absl::StrJoin(all, " && ");
}

}  // namespace

std::string CelLiteral(std::string_view text) {
  return StrCat("\"", absl::StrReplaceAll(AsAbsl(text), {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string PatternsCel(const Strings& patterns, std::string_view text) {
  return Combine(patterns, [&](std::string_view pattern) { return PatternCel(pattern, text); });
}

std::string RoleRefsCel(const Strings& patterns) {
  return Combine(patterns, [](std::string_view pattern) {
    const size_t slash = pattern.find('/');
    if (slash == pattern.npos) return PatternCel(pattern, "object.roleRef.name");
    return StrCat("(object.roleRef.kind == ", CelLiteral(pattern.substr(0, slash)), " && ",
                  PatternCel(pattern.substr(slash + 1), "object.roleRef.name"), ")");
  });
}

}  // namespace mandate::rbacgen
