#include "rbacgen/world/identities.h"

#include <set>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {

absl::StatusOr<std::vector<NamedIdentity>> ParseIdentities(const std::vector<std::string>& texts) {
  std::vector<NamedIdentity> identities;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return absl::InvalidArgumentError(
          StrCat("--identity=", text, ": write COMPONENT=NAMESPACE/NAME"));
    }
    ASSIGN_OR_RETURN(rbac::UserInfo user, FindUser(World(), text.substr(equals + 1), {}));
    identities.push_back({text, text.substr(0, equals), std::move(user)});
  }
  return identities;
}

std::vector<std::string> NameIdentities(const std::vector<NamedIdentity>& identities,
                                        World* world) {
  std::vector<std::string> missing;
  if (identities.empty()) return missing;
  std::set<std::string> named;
  for (const NamedIdentity& one : identities) {
    named.insert(one.component);
    const auto account = rbac::ParseServiceAccountUser(one.user.name);
    if (world->knows_later || !account.has_value()) continue;
    if (world->accounts.contains({account->ns, account->name})) {
      world->components[one.component] = *account;
    } else {
      world->components.erase(one.component);
      missing.push_back(StrCat("no ServiceAccount ", account->ns, "/", account->name,
                               " (--identity=", one.text, ")"));
    }
  }
  std::erase_if(world->components, [&](const auto& entry) { return !named.contains(entry.first); });
  return missing;
}

}  // namespace mandate::rbacgen
