#include "manager/component_hints.h"

#include <algorithm>

#include "manager/rbac/authorizer.h"

namespace mandate {

void ComponentHints::Add(std::string_view component, std::string_view username) {
  const auto account = rbac::ParseServiceAccountUser(username);
  if (!account.has_value()) return;
  users_.emplace_back(component, rbac::ServiceAccountInfo(account->ns, account->name));
}

std::vector<std::string> ComponentHints::ComponentsOf(const std::vector<rbac::Subject>& subjects,
                                                      std::string_view binding_ns) const {
  std::vector<std::string> components;
  for (const auto& [component, user] : users_) {
    if (std::any_of(subjects.begin(), subjects.end(), [&](const rbac::Subject& subject) {
          return rbac::SubjectMatches(subject, user, binding_ns);
        })) {
      components.push_back(component);
    }
  }
  return components;
}

void ComponentHints::RecheckAccess(std::string_view component, std::string_view ns) {
  cache_.RecheckAccess(component, ns);
}

void ComponentHints::RecheckAll(absl::Time until) {
  cache_.RecheckAccess(/*component=*/"", /*ns=*/"", until);
}

}  // namespace mandate
