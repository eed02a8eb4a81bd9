#include "rbacgen/analysis/question.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/builtin_lint.h"
#include "rbacgen/builtin_resources.h"
#include "rbacgen/declarations.h"

namespace mandate::rbacgen {
namespace {

// The only group in which the policy's rules name the resource.
std::optional<std::string> GroupInRules(const rbac::Policy& policy, std::string_view resource) {
  std::set<std::string> groups;
  const auto look = [&](const std::vector<rbac::Rule>& rules) {
    for (const rbac::Rule& rule : rules) {
      for (const std::string& r : rule.resources) {
        if (r.substr(0, r.find('/')) != resource) continue;
        for (const std::string& group : rule.api_groups) {
          if (group != "*") groups.insert(group);
        }
      }
    }
  };
  for (const auto& role : policy.cluster_roles) look(role.rules);
  for (const auto& role : policy.roles) look(role.rules);
  if (groups.size() != 1) return std::nullopt;
  return *groups.begin();
}

// The group of Kubernetes' own resource of that name, the core group before others. Of those that
// a server serves, or that are only ever authorized.
std::optional<std::string> BuiltinGroup(std::string_view resource, bool served) {
  std::optional<std::string> group;
  for (const BuiltinResource& r : BuiltinResources()) {
    if (r.resource != resource || (KnowsVerb(r, "get") || KnowsVerb(r, "create")) != served) {
      continue;
    }
    if (r.group.empty() || !group) group = std::string(r.group);
    if (r.group.empty()) break;
  }
  return group;
}

std::string GroupOf(const std::string& resource, const rbac::Policy& policy) {
  if (const auto group = BuiltinGroup(resource, /*served=*/true)) return *group;
  // Custom resources may be called "users".
  if (const auto group = GroupInRules(policy, resource)) return *group;
  return BuiltinGroup(resource, /*served=*/false).value_or("");
}

}  // namespace

absl::StatusOr<rbac::Attributes> ParseQuestion(const QuestionText& text,
                                               const rbac::Policy& policy) {
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
  std::string type = text.resource.substr(0, slash);
  if (slash != std::string::npos) a.name = text.resource.substr(slash + 1);
  if (type.empty() || (slash != std::string::npos && a.name.empty()) ||
      a.name.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("\"", text.resource, "\" is no RESOURCE, RESOURCE.GROUP, RESOURCE/NAME or /PATH"));
  }
  const size_t dot = type.find('.');
  if (type == "*") {
    a.resource = "*";
    a.api_group = "*";
  } else {
    a.resource = type.substr(0, dot);
    a.api_group = dot == std::string::npos ? GroupOf(a.resource, policy) : type.substr(dot + 1);
  }
  a.subresource = text.subresource;
  a.ns = text.ns;
  return a;
}

std::vector<std::string> QuestionDoubts(const QuestionText& text, const rbac::Attributes& request) {
  std::vector<std::string> doubts;
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
  Declaration asked;
  asked.rule = {{request.verb}, {request.api_group}, {target}, {}, {}};
  LintBuiltins(asked, &doubts);
  for (const std::string& doubt : DoubtfulBuiltins(asked)) {
    doubts.push_back(doubt.substr(0, doubt.find(';')) + "; write RESOURCE.GROUP for another");
  }
  return doubts;
}

}  // namespace mandate::rbacgen
