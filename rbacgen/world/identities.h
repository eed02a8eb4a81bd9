// The flag --identity: it maps components to ServiceAccounts that our chart did not name.
#ifndef RBACGEN_WORLD_IDENTITIES_H_
#define RBACGEN_WORLD_IDENTITIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/rbac/user.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct NamedIdentity {
  std::string text;  // as the flag has it
  std::string component;
  rbac::UserInfo user;
};

// Of "COMPONENT=NAMESPACE/NAME", or another user's name in place of NAMESPACE/NAME.
// InvalidArgument: another form.
absl::StatusOr<std::vector<NamedIdentity>> ParseIdentities(const std::vector<std::string>& texts);

// NotFound when `components`, those of a source tree by name, lack one of the identities'. Base is
// in every tree. A tree without components accepts all identities.
template <class Map>
absl::Status CheckComponents(const std::vector<NamedIdentity>& identities, const Map& components);

// Makes the identities the components of the world, and the only ones: a project that names them
// has no Mandate manager. A source tree's keep the ServiceAccounts that its markers give them.
// Skips ServiceAccounts that the world does not have, and returns these in words.
std::vector<std::string> NameIdentities(const std::vector<NamedIdentity>& identities, World* world);

template <class Map>
absl::Status CheckComponents(const std::vector<NamedIdentity>& identities, const Map& components) {
  std::string names;
  for (const auto& entry : components) names += (names.empty() ? "" : ", ") + entry.first;
  for (const NamedIdentity& one : identities) {
    if (names.empty() || one.component == "base" || components.contains(one.component)) continue;
    return absl::NotFoundError("--identity=" + one.text + ": the sources have no component " +
                               one.component + "; they have " + names);
  }
  return absl::OkStatus();
}

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_IDENTITIES_H_
