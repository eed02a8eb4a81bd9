#include "manager/rbac/list_params.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "manager/core/percent.h"
#include "manager/core/strings.h"
#include "manager/object/selector.h"

namespace mandate::rbac {
namespace {

// The first value of each parameter; malformed parameters are skipped, as in Go's url.Query().
std::map<std::string, std::string, std::less<>> ParseQuery(std::string_view query) {
  std::map<std::string, std::string, std::less<>> values;
  for (absl::string_view piece : absl::StrSplit(AsAbsl(query), '&', absl::SkipEmpty())) {
    const std::string_view pair = AsStd(piece);
    if (pair.find(';') != std::string_view::npos) continue;
    const size_t equals = pair.find('=');
    const auto key = PercentDecode(pair.substr(0, equals), /*plus=*/true);
    const auto value = PercentDecode(
        equals == std::string_view::npos ? "" : pair.substr(equals + 1), /*plus=*/true);
    if (key.has_value() && value.has_value()) values.try_emplace(*key, *value);
  }
  return values;
}

bool IsTrue(std::string_view value) {
  return value != "0" && !absl::EqualsIgnoreCase(AsAbsl(value), "false");
}

bool IsInt64(std::string_view value) {
  if (value.starts_with('+')) {
    value.remove_prefix(1);
    if (value.starts_with('-')) return false;
  }
  int64_t number;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && stop == end;
}

std::vector<std::string_view> SplitTerms(std::string_view selector) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  for (size_t i = 0; i < selector.size(); ++i) {
    if (selector[i] == '\\') {
      ++i;
    } else if (selector[i] == ',') {
      terms.push_back(selector.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(selector.substr(start));
  return terms;
}

// Only \\, \, and \= are escapes, and , and = must be escaped.
std::optional<std::string> UnescapeValue(std::string_view value) {
  std::string plain;
  for (size_t i = 0; i < value.size(); ++i) {
    char c = value[i];
    if (c == ',' || c == '=') return std::nullopt;
    if (c == '\\') {
      if (++i == value.size()) return std::nullopt;
      c = value[i];
      if (c != '\\' && c != ',' && c != '=') return std::nullopt;
    }
    plain += c;
  }
  return plain;
}

// The name that a selector of fields requires, if any. k8s.io/apimachinery pkg/fields: terms
// key=value, key==value, key!=value, sorted before the first that requires a name is taken. One
// term that is not well formed makes the whole selector void.
std::optional<std::string> RequiredName(std::string_view selector) {
  std::optional<std::string> name;
  std::vector<std::string_view> terms = SplitTerms(selector);
  std::sort(terms.begin(), terms.end());
  for (std::string_view term : terms) {
    if (term.empty()) continue;
    size_t op = term.find('=');
    if (op == std::string_view::npos) return std::nullopt;
    const bool negated = op > 0 && term[op - 1] == '!';
    const std::string_view key = term.substr(0, negated ? op - 1 : op);
    ++op;
    if (!negated && op < term.size() && term[op] == '=') ++op;
    auto value = UnescapeValue(term.substr(op));
    if (!value.has_value()) return std::nullopt;
    if (!negated && key == "metadata.name" && !name.has_value()) name = std::move(value);
  }
  return name;
}

}  // namespace

ListParams ParseListParams(std::string_view query) {
  const auto values = ParseQuery(query);
  const auto get = [&](std::string_view key) -> const std::string* {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
  };
  ListParams params;
  const std::string* watch = get("watch");
  params.watch = watch != nullptr && IsTrue(*watch);
  for (const char* number : {"timeoutSeconds", "limit"}) {
    const std::string* value = get(number);
    if (value != nullptr && !IsInt64(*value)) return params;
  }
  const std::string* labels = get("labelSelector");
  if (labels != nullptr && !LabelSelector::Parse(*labels).ok()) return params;
  const std::string* fields = get("fieldSelector");
  if (fields == nullptr) return params;
  params.name = RequiredName(*fields);
  return params;
}

}  // namespace mandate::rbac
