#include "rbacgen/ask/known_users.h"

#include <algorithm>

#include "manager/core/closest_name.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/user.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kNodePrefix = "system:node:";

bool HasUser(const World& world, std::string_view user) {
  if (const auto account = rbac::ParseServiceAccountUser(user)) {
    return world.accounts.contains({account->ns, account->name}) ||
           std::ranges::any_of(world.components,
                               [&](const auto& entry) { return entry.second == *account; });
  }
  return user == rbac::kAnonymousUser || HasSubject(world, "User", user);
}

bool HasGroup(const World& world, std::string_view group) {
  for (const std::string_view known : {rbac::kMastersGroup, rbac::kAuthenticatedGroup,
                                       rbac::kUnauthenticatedGroup, rbac::kServiceAccountsGroup}) {
    if (group == known) return true;
  }
  const bool has_accounts = std::ranges::any_of(world.accounts, [&](const auto& account) {
    return group == StrCat(rbac::kServiceAccountsGroup, ":", account.first);
  });
  return has_accounts || HasSubject(world, "Group", group);
}

// " (did you mean scope-instance?)".
std::string NearestWords(const World& world, std::string_view name) {
  std::vector<std::string> components;
  for (const auto& [component, account] : world.components) components.push_back(component);
  const auto near = ClosestName(name, components);
  return near.has_value() ? StrCat(" (did you mean ", *near, "?)") : "";
}

}  // namespace

absl::Status CheckKnown(const World& world, std::string_view name,
                        const std::vector<std::string>& groups) {
  ASSIGN_OR_RETURN(const rbac::UserInfo user, FindUser(world, name, groups));
  if (!SpelledOut(world, "User", name).has_value()) {
    if (user.name.starts_with(kNodePrefix)) {
      return absl::NotFoundError(
          StrCat(user.name,
                 " is a node: the API server's Node authorizer allows it more than RBAC does; "
                 "write user:",
                 user.name, " to ask about RBAC only"));
    }
    if (!HasUser(world, user.name)) {
      return absl::NotFoundError(
          StrCat(name, " is not a component, a ServiceAccount or a user of the input",
                 NearestWords(world, name), "; write user:", user.name,
                 " to ask about a user that the input does not have"));
    }
  }
  for (const std::string& group : groups) {
    if (SpelledOut(world, "Group", group).has_value() || HasGroup(world, group)) continue;
    return absl::NotFoundError(StrCat(group, " is not a group of the input; write group:", group,
                                      " to ask about a group that no binding has"));
  }
  return absl::OkStatus();
}

}  // namespace mandate::rbacgen
