#include "manager/rbac/request_info.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "manager/core/percent.h"
#include "manager/core/strings.h"
#include "manager/object/selector.h"
#include "manager/rbac/quote.h"

namespace mandate::rbac {
namespace {

absl::Status BadTarget(std::string_view target, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("request target ", Quote(target), ": ", why));
}

// Slashes at both ends are ignored. Adjacent slashes inside the path give empty segments.
std::vector<std::string> Segments(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) return {};
  return absl::StrSplit(AsAbsl(path), '/');
}

std::string_view VerbOf(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

// Whether the text is a valid name in a path, and so in a storage key.
bool IsPathSegment(std::string_view name) {
  return name != "." && name != ".." && name.find_first_of("/%") == std::string_view::npos;
}

bool IsNamespaceSubresource(std::string_view segment) {
  return segment == "status" || segment == "finalize";
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

// Removes the escapes. Only \\, \, and \= are valid, and , and = must be escaped.
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

// The name that a field selector requires, if any (k8s.io/apimachinery pkg/fields). The terms
// key=value, key==value and key!=value are sorted, and the first one that requires a name counts.
// If one term is malformed, the whole selector is ignored.
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

// The parameters of a list request that authorization uses (metav1.ListOptions).
struct ListParams {
  bool watch = false;
  // The value that a field selector requires for metadata.name. It is also nullopt if any parameter
  // is malformed, because the server then ignores all parameters except `watch`.
  std::optional<std::string> name;
};

// `query` is the text after the "?". If a parameter is repeated, the first one counts.
ListParams ParseListParams(std::string_view query) {
  const auto parameters = ParseQuery(query);
  // The first value of the parameter.
  const auto get = [&](std::string_view name) -> const std::string* {
    const auto found =
        std::ranges::find_if(parameters, [&](const auto& p) { return p.first == name; });
    return found == parameters.end() ? nullptr : &found->second;
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

// Sets namespace, resource, name and subresource from the segments after version and verb.
void FillResource(std::vector<std::string>::const_iterator at,
                  std::vector<std::string>::const_iterator end, Attributes& request) {
  if (*at == "namespaces" && end - at > 1) {
    request.ns = at[1];
    if (end - at > 2 && !IsNamespaceSubresource(at[2])) at += 2;
  }
  request.resource = at[0];
  if (end - at > 1) request.name = at[1];
  if (end - at > 2 && request.verb != "proxy") request.subresource = at[2];
}

}  // namespace

absl::StatusOr<Attributes> AttributesOf(std::string_view method, std::string_view target) {
  if (!target.starts_with('/')) return BadTarget(target, "it must begin with \"/\"");
  if (std::any_of(target.begin(), target.end(), [](char c) { return absl::ascii_iscntrl(c); })) {
    return BadTarget(target, "it has a control character; escape it as %XX");
  }
  const size_t question = target.find('?');
  const std::string_view query =
      question == std::string_view::npos ? "" : target.substr(question + 1);
  const auto path = PercentDecode(target.substr(0, question), /*plus=*/false);
  if (!path.has_value()) return BadTarget(target, "a \"%\" must precede two hexadecimal digits");

  Attributes request;
  request.is_resource_request = false;
  request.verb = absl::AsciiStrToLower(AsAbsl(method));
  request.path = *path;
  const std::vector<std::string> segments = Segments(*path);
  if (segments.size() < 3 || (segments[0] != "api" && segments[0] != "apis")) return request;
  auto at = segments.begin() + 1;
  if (segments[0] == "apis") {
    if (segments.size() < 4) return request;
    request.api_group = *at++;
  }
  request.is_resource_request = true;
  request.path.clear();
  request.api_version = *at++;
  if (*at == "watch" || *at == "proxy") {
    request.verb = *at++;
    if (at == segments.end()) {
      return BadTarget(
          target, StrCat("it ends after \"", request.verb, "\"; add a resource, or use ?watch=1"));
    }
  } else {
    request.verb = VerbOf(method);
  }
  FillResource(at, segments.end(), request);

  if (!request.name.empty()) return request;
  if (request.verb == "get") {
    const ListParams params = ParseListParams(query);
    request.verb = params.watch ? "watch" : "list";
    if (params.name.has_value() && IsPathSegment(*params.name)) request.name = *params.name;
  } else if (request.verb == "delete") {
    request.verb = "deletecollection";
  }
  return request;
}

}  // namespace mandate::rbac
