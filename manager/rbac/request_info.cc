#include "manager/rbac/request_info.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "manager/core/percent.h"
#include "manager/core/strings.h"
#include "manager/rbac/list_params.h"
#include "manager/rbac/quote.h"

namespace mandate::rbac {
namespace {

absl::Status BadTarget(std::string_view target, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("request target ", Quote(target), ": ", why));
}

// Slashes at both ends do not count; those inside make empty segments.
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

// Whether the text may be a name in a path, and so in a storage key.
bool IsPathSegment(std::string_view name) {
  return name != "." && name != ".." && name.find_first_of("/%") == std::string_view::npos;
}

bool IsNamespaceSubresource(std::string_view segment) {
  return segment == "status" || segment == "finalize";
}

// Fills namespace, resource, name and subresource from what follows version and verb.
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
    return BadTarget(target, "it holds a control character; escape it as %XX");
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
      return BadTarget(target, StrCat("nothing follows \"", request.verb,
                                      "\"; name the resource, or ask for ?watch=1"));
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
