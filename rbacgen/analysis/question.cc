#include "rbacgen/analysis/question.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "rbacgen/analysis/resource_names.h"
#include "rbacgen/builtin_lint.h"
#include "rbacgen/builtin_resources.h"
#include "rbacgen/declarations.h"
#include "rbacgen/text.h"

namespace mandate::rbacgen {
namespace {

bool HasCapitals(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return absl::ascii_isupper(c); });
}

}  // namespace

absl::StatusOr<rbac::Attributes> ParseQuestion(const QuestionText& text, const World& world) {
  rbac::Attributes a;
  a.verb = text.verb;
  if (text.verb.empty()) return absl::InvalidArgumentError("the verb is empty");
  if (text.resource.starts_with("/")) {
    if (!text.ns.empty() || !text.subresource.empty()) {
      return absl::InvalidArgumentError(
          StrCat(text.resource, " is a path: it has no namespace and no subresource"));
    }
    a.is_resource_request = false;
    a.path = text.resource;
    return a;
  }
  const size_t slash = text.resource.find('/');
  const std::string type = text.resource.substr(0, slash);
  if (slash != std::string::npos) a.name = text.resource.substr(slash + 1);
  if (type.empty() || (slash != std::string::npos && a.name.empty())) {
    return absl::InvalidArgumentError(
        StrCat("\"", text.resource, "\" is no RESOURCE, RESOURCE.GROUP, RESOURCE/NAME or /PATH"));
  }
  ResourceId id = {"*", "*"};
  if (type != "*") id = FindResource(type, world.custom, world.policy);
  a.api_group = std::move(id.group);
  a.resource = std::move(id.resource);
  a.subresource = text.subresource;
  a.ns = text.ns;
  return a;
}

std::vector<std::string> QuestionDoubts(const QuestionText& text, const rbac::Attributes& request) {
  std::vector<std::string> doubts;
  // Constrained impersonation has verbs with capitals after a colon.
  if (HasCapitals(request.verb.substr(0, request.verb.find(':')))) {
    doubts.push_back(StrCat("verb ", Quoted(request.verb),
                            " has capitals: those of requests are in lower case"));
  }
  if (!request.is_resource_request || request.resource == "*") return doubts;
  const std::string target = request.subresource.empty()
                                 ? request.resource
                                 : StrCat(request.resource, "/", request.subresource);
  if (request.subresource.empty() && !request.name.empty() &&
      (request.name == "status" || request.name == "scale" || request.name == "finalizers" ||
       FindBuiltin(request.api_group, StrCat(request.resource, "/", request.name)) != nullptr)) {
    doubts.push_back(StrCat("\"", request.name, "\" is taken as the name of one of ",
                            request.resource, ", as kubectl takes it; the subresource is ",
                            text.resource.substr(0, text.resource.find('/')),
                            " --subresource=", request.name));
  }
  if (request.name.find('/') != std::string::npos) {
    doubts.push_back(StrCat("\"", request.name, "\" is taken as the name of one of ",
                            request.resource,
                            ", as kubectl takes it; a subresource is asked for "
                            "with --subresource"));
  }
  // A request for one namespace is in it; a binding's role is asked about in the binding's.
  const BuiltinResource* builtin = FindBuiltin(request.api_group, target);
  if (builtin != nullptr && !builtin->namespaced && !request.ns.empty() &&
      request.resource != "namespaces" && request.verb != "bind") {
    doubts.push_back(StrCat(request.resource, " are of no namespace: a request for them is in ",
                            "none; leave -n out"));
  }
  Declaration asked;
  asked.rule = {{request.verb}, {request.api_group}, {target}, {}, {}};
  LintBuiltins(asked, &doubts);
  for (const std::string& doubt : DoubtfulBuiltins(asked)) {
    doubts.push_back(doubt.substr(0, doubt.find(';')) + "; write RESOURCE.GROUP for another");
  }
  return doubts;
}

}  // namespace mandate::rbacgen
