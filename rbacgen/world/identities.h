// The flag --identity, which maps components to ServiceAccounts with names other than the chart's.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/rbac/user.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct NamedIdentity {
  std::string text;  // the value of the flag
  std::string component;
  rbac::UserInfo user;
};

// Parses "COMPONENT=NAMESPACE/NAME", or "COMPONENT=USER" for another user. InvalidArgument if the
// form is invalid.
absl::StatusOr<std::vector<NamedIdentity>> ParseIdentities(const std::vector<std::string>& texts);

// NotFound if one of the identities names a component that `components`, the components of a source
// tree by name, does not have. Every tree has base. A tree without components accepts all
// identities.
template <class Map>
absl::Status CheckComponents(const std::vector<NamedIdentity>& identities, const Map& components);

// Makes the identities the only components of the world, because a project that names them has no
// Mandate manager. The components of a source tree keep the ServiceAccounts from its markers. Skips
// ServiceAccounts that the world does not have, and returns them in words.
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
