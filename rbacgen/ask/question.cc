#include "rbacgen/ask/question.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "rbacgen/lint/builtin_lint.h"
#include "rbacgen/lint/builtin_resources.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/text.h"
#include "rbacgen/world/resource_names.h"

namespace mandate::rbacgen {
namespace {

bool HasCapitals(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return absl::ascii_isupper(c); });
}

// Such as "pods" and "pods/log".
std::string Target(const rbac::Attributes& request) {
  if (request.subresource.empty()) return request.resource;
  return StrCat(request.resource, "/", request.subresource);
}

// Reports that a name may be meant as a subresource.
void NoteNames(const QuestionText& text, const rbac::Attributes& request,
               std::vector<QuestionDoubt>* doubts) {
  if (request.subresource.empty() && !request.name.empty() &&
      (request.name == "status" || request.name == "scale" || request.name == "finalizers" ||
       FindBuiltin(request.api_group, StrCat(request.resource, "/", request.name)) != nullptr)) {
    doubts->push_back({StrCat("\"", request.name, "\" is read as the name of an object of ",
                              request.resource, ", as kubectl does; for the subresource, write ",
                              text.resource.substr(0, text.resource.find('/')),
                              " --subresource=", request.name)});
  }
  if (request.name.find('/') != std::string::npos) {
    doubts->push_back(
        {StrCat("\"", request.name, "\" is read as the name of an object of ", request.resource,
                ", as kubectl does; for a subresource, use --subresource")});
  }
}

}  // namespace

bool IsOfNoNamespace(const rbac::Attributes& request) {
  const BuiltinResource* builtin = FindBuiltin(request.api_group, Target(request));
  return builtin != nullptr && !builtin->namespaced && request.resource != "namespaces" &&
         request.verb != "bind";
}

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
    return absl::InvalidArgumentError(StrCat(
        "\"", text.resource, "\" is not a valid RESOURCE, RESOURCE.GROUP, RESOURCE/NAME or /PATH"));
  }
  ResourceId id = {"*", "*"};
  if (type != "*") id = FindResource(type, world.custom, world.policy);
  a.api_group = std::move(id.group);
  a.resource = std::move(id.resource);
  a.subresource = text.subresource;
  a.ns = text.ns;
  return a;
}

std::vector<QuestionDoubt> QuestionDoubts(const QuestionText& text, const rbac::Attributes& request,
                                          const World& world) {
  std::vector<QuestionDoubt> doubts;
  // Constrained impersonation has verbs with capitals after a colon.
  if (HasCapitals(request.verb.substr(0, request.verb.find(':')))) {
    doubts.push_back({StrCat("verb ", Quoted(request.verb),
                             " has capital letters: the verbs of requests are in lower case"),
                      /*is_open=*/true});
  }
  if (!request.is_resource_request) return doubts;
  const auto lint = [&](std::string_view verb, const std::string& resource) {
    Declaration asked;
    if (!verb.empty()) asked.rule.verbs = {std::string(verb)};
    asked.rule.api_groups = {request.api_group};
    asked.rule.resources = {resource};
    std::vector<std::string> found;
    LintBuiltins(asked, &found);
    return found;
  };
  for (std::string& mistyped : lint(request.verb, "*")) {
    doubts.push_back({std::move(mistyped), /*is_open=*/true});
  }
  if (request.resource == "*") return doubts;
  NoteNames(text, request, &doubts);
  // The resource may be from a newer Kubernetes than the table of built-in resources.
  const bool is_new = FindBuiltin(request.api_group, request.resource) == nullptr &&
                      std::ranges::any_of(world.custom, [&](const ResourceNames& its) {
                        return its.group == request.api_group && its.plural == request.resource;
                      });
  if (is_new) return doubts;
  if (IsOfNoNamespace(request) && !request.ns.empty()) {
    doubts.push_back({StrCat(request.resource, " are not namespaced; omit -n")});
  }
  const std::string target = Target(request);
  const auto mistyped = lint("", target);
  for (const std::string& doubt : mistyped) doubts.push_back({doubt, /*is_open=*/true});
  // A newer Kubernetes may have the resource in the group that the question names.
  const size_t dot = text.resource.substr(0, text.resource.find('/')).find('.');
  Declaration asked;
  asked.rule = {{}, {request.api_group}, {target}, {}, {}};
  for (const std::string& doubt : DoubtfulBuiltins(asked)) {
    doubts.push_back({doubt.substr(0, doubt.find(';')) + "; write RESOURCE.GROUP for another",
                      /*is_open=*/dot == std::string::npos});
  }
  if (!mistyped.empty()) return doubts;
  // A request that the API does not support is not possible for any user.
  for (std::string& doubt : lint(request.verb, target)) {
    const auto is_it = [&](const QuestionDoubt& known) { return known.text == doubt; };
    if (std::ranges::none_of(doubts, is_it)) doubts.push_back({std::move(doubt)});
  }
  return doubts;
}

}  // namespace mandate::rbacgen
