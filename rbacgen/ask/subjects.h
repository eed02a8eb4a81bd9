// The subjects of two worlds, to be compared one by one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "manager/rbac/user.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// A subject as a binding names it. Only ServiceAccounts have an `ns`.
struct SubjectKey {
  std::string kind, ns, name;
  auto operator<=>(const SubjectKey&) const = default;
};

// The user that matches the bindings of the subject itself, but not those of its groups.
rbac::UserInfo Alone(const SubjectKey& subject);
// The user with the groups that the API server adds to its requests. For a group: one of its
// members.
rbac::UserInfo WithGroups(const SubjectKey& subject);

struct Compared {
  std::string title;  // a component's name, "namespace/name", "user x" or "group x"
  // Whether this is a component. Its ServiceAccount may have different names in the two worlds, and
  // it may be in both worlds or only in one; any other subject counts as being in both.
  bool is_component = false;
  std::optional<SubjectKey> before, now;
};

// Components first, then the other subjects of bindings. If only one of the worlds is a source
// tree, the list has only components: a tree does not declare the other subjects of a cluster.
std::vector<Compared> SubjectsToCompare(const World& before, const World& now);

}  // namespace mandate::rbacgen
