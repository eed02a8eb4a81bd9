#include "manager/rbac/escalation.h"

#include "manager/core/status_macros.h"
#include "manager/rbac/covers.h"

namespace mandate::rbac {
namespace {

// Members of system:masters are authorized for everything, so they need no case of their own.
bool May(const Authorizer& authorizer, const UserInfo& user, std::string_view verb,
         std::string_view resource, std::string_view ns, std::string_view name) {
  Attributes request;
  request.verb = verb;
  request.api_group = kRbacGroup;
  request.api_version = "*";
  request.resource = resource;
  request.ns = ns;
  request.name = name;
  return authorizer.Authorize(user, request).allowed;
}

std::vector<Rule> Lacking(const Authorizer& authorizer, const UserInfo& user, std::string_view ns,
                          std::span<const Rule> rules) {
  return Uncovered(authorizer.RulesFor(user, ns).rules, rules);
}

}  // namespace

std::vector<Rule> MissingToWriteRole(const Authorizer& authorizer, const UserInfo& user,
                                     const RoleWrite& write) {
  const std::string_view resource = write.ns.empty() ? "clusterroles" : "roles";
  if (May(authorizer, user, "escalate", resource, write.ns, write.name)) return {};
  return Lacking(authorizer, user, write.ns, write.rules);
}

absl::StatusOr<std::vector<Rule>> MissingToBind(const Authorizer& authorizer, const UserInfo& user,
                                                std::string_view ns, const RoleRef& ref) {
  const std::string_view resource = ref.kind == "Role" ? "roles" : "clusterroles";
  if (May(authorizer, user, "bind", resource, ns, ref.name)) return std::vector<Rule>();
  ASSIGN_OR_RETURN(const std::span<const Rule> rules, authorizer.Resolve(ref, ns));
  return Lacking(authorizer, user, ns, rules);
}

}  // namespace mandate::rbac
