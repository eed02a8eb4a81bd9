// The subjects of two worlds, to be compared one by one.
#ifndef RBACGEN_ASK_SUBJECTS_H_
#define RBACGEN_ASK_SUBJECTS_H_

#include <optional>
#include <string>
#include <vector>

#include "manager/rbac/user.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// A subject as a binding names it; `ns` of ServiceAccounts only.
struct SubjectKey {
  std::string kind, ns, name;
  auto operator<=>(const SubjectKey&) const = default;
};

// Matches bindings that name the subject itself, and none of its groups.
rbac::UserInfo Alone(const SubjectKey& subject);
// The subject as it makes requests: with the groups that the API server adds. For a group, a
// member of it.
rbac::UserInfo WithGroups(const SubjectKey& subject);

struct Compared {
  std::string title;  // a component's name, "namespace/name", "user x" or "group x"
  // A component, whose ServiceAccounts may have different names in the two worlds. It is in both,
  // or new, or gone; every other subject counts as being in both.
  bool is_component = false;
  std::optional<SubjectKey> before, now;
};

// Components first, then the other subjects of bindings. If one of the worlds is a source tree and
// the other is not, only components: a tree does not declare a cluster's other subjects.
std::vector<Compared> SubjectsToCompare(const World& before, const World& now);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ASK_SUBJECTS_H_
