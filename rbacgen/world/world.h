// The RBAC objects and the identities of a source tree, of manifests or of a cluster: the data that
// questions about permissions are answered from.
#ifndef RBACGEN_WORLD_WORLD_H_
#define RBACGEN_WORLD_WORLD_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/object/selector.h"
#include "manager/rbac/policy.h"
#include "manager/rbac/user.h"
#include "rbacgen/world/resource_names.h"

namespace mandate::rbacgen {

// Rules that a component's markers declare and an administrator binds later (granted=external).
struct LaterGrant {
  std::string component;
  std::string ns;  // empty: every namespace and cluster scope
  std::vector<rbac::Rule> rules;
};

// The selectors that aggregate ClusterRoles: the API server's controller gives a ClusterRole the
// rules of those whose labels its selectors match.
struct Aggregation {
  std::map<std::string, std::string> labels;
  std::vector<LabelSelector> selectors;  // any of them; none: its rules are its own
};

struct World {
  rbac::Policy policy;
  // By ClusterRole. ResolveAggregates() makes rules of it.
  std::map<std::string, Aggregation> aggregation;
  // ServiceAccounts that are known to exist, as (namespace, name): objects, and bindings' subjects.
  std::set<std::pair<std::string, std::string>> accounts;
  // Of a source tree: "base" and each component, with its ServiceAccount.
  std::map<std::string, rbac::ServiceAccountName> components;
  // The names of resources, from CustomResourceDefinitions and a cluster.
  std::vector<ResourceNames> custom;
  std::vector<LaterGrant> later;
  bool knows_later = false;      // of a source tree: `later` is complete
  size_t without_namespace = 0;  // objects that were taken to be in the manager's
  bool is_whole = false;         // of a cluster: a role that is not here does not exist
  // The policy as the oldest supported Kubernetes has it, with its aggregated roles resolved; null
  // where none of Kubernetes' own roles matters.
  std::shared_ptr<const rbac::Policy> in_oldest;
};

// Whether a binding has this subject; `kind` is "User" or "Group".
bool HasSubject(const World& world, std::string_view kind, std::string_view name);

// The name in "user:NAME" (`kind` is "User") or "group:NAME" ("Group"), which a person writes for
// a subject that the input does not have. nullopt if `text` has another form, or if a binding's
// subject is called `text` itself.
std::optional<std::string_view> SpelledOut(const World& world, std::string_view kind,
                                           std::string_view text);

// A component of the world, "namespace/name" of a ServiceAccount, any user name, or "user:NAME";
// with further groups, each by name or as "group:NAME". The implicit groups are added. NotFound for
// "namespace/name" that no ServiceAccount can have, and for empty names.
absl::StatusOr<rbac::UserInfo> FindUser(const World& world, std::string_view name,
                                        const std::vector<std::string>& groups);

// For people: a component's name, "namespace/name" of another ServiceAccount, or the user name.
std::string UserTitle(const World& world, std::string_view user);

// The end of the name of an object with metadata.generateName: the API server makes the rest of the
// name. No name of an RBAC object has this sign.
inline constexpr char kGeneratedName[] = "%";

// Adds the objects of `other` after the present ones.
void Merge(World other, World* world);
// Of objects with one name the last one counts, as with `kubectl apply`. Removes the others, and
// returns them in words. Objects with generated names are all different. After the last Merge().
std::vector<std::string> RemoveRepeated(World* world);
// Adds to each ClusterRole with selectors the rules of those that they match, which may be such
// roles themselves (admin selects edit, which selects view). After the last Merge(), as a selector
// reaches into other files; rules that are there stay, as a cluster has resolved them before.
void ResolveAggregates(World* world);
// Adds the ServiceAccounts that bindings name to `accounts`.
void NoteSubjects(World* world);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_WORLD_H_
