// The RBAC objects and identities of a source tree, of manifests or of a cluster: the data for
// questions about permissions.
#pragma once

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

// The selectors of an aggregated ClusterRole: the API server's controller gives it the rules of the
// ClusterRoles whose labels the selectors match.
struct Aggregation {
  std::map<std::string, std::string> labels;
  // One of them must match; if empty, the role has its own rules.
  std::vector<LabelSelector> selectors;
};

struct World {
  rbac::Policy policy;
  // The aggregations by ClusterRole. ResolveAggregates() turns them into rules.
  std::map<std::string, Aggregation> aggregation;
  // ServiceAccounts that are known to exist, as (namespace, name), from objects and from bindings'
  // subjects.
  std::set<std::pair<std::string, std::string>> accounts;
  // For a source tree: "base" and each component, with its ServiceAccount.
  std::map<std::string, rbac::ServiceAccountName> components;
  // The names of resources, from CustomResourceDefinitions and a cluster.
  std::vector<ResourceNames> custom;
  std::vector<LaterGrant> later;
  bool knows_later = false;      // set for a source tree: `later` is complete
  size_t without_namespace = 0;  // objects without a namespace, which count as the manager's
  bool is_whole = false;         // set for a cluster: a role that is not here does not exist
  // The policy with the roles of the oldest supported Kubernetes, with aggregated roles resolved;
  // null if the world uses none of Kubernetes' own roles.
  std::shared_ptr<const rbac::Policy> in_oldest;
};

// Whether a binding has this subject; `kind` is "User" or "Group".
bool HasSubject(const World& world, std::string_view kind, std::string_view name);

// If `text` is "user:NAME" (`kind` is "User") or "group:NAME" ("Group"), returns NAME. A user
// writes this form for a subject that the input does not have. Returns nullopt for any other text,
// and if a binding has a subject named `text`.
std::optional<std::string_view> SpelledOut(const World& world, std::string_view kind,
                                           std::string_view text);

// Finds the user by the name of a component of the world, as "namespace/name" of a ServiceAccount,
// by any user name, or as "user:NAME". It gets the further groups, each given by name or as
// "group:NAME", and the implicit groups. NotFound for a "namespace/name" that no ServiceAccount can
// have, and for empty names.
absl::StatusOr<rbac::UserInfo> FindUser(const World& world, std::string_view name,
                                        const std::vector<std::string>& groups);

// A title for messages: a component's name, "namespace/name" of another ServiceAccount, or the user
// name.
std::string UserTitle(const World& world, std::string_view user);

// The end of the name of an object with metadata.generateName, whose name the API server completes.
// The name of an RBAC object cannot contain this character.
inline constexpr char kGeneratedName[] = "%";

// Adds the objects of `other` after those of `world`.
void Merge(World other, World* world);
// Of several objects with the same name, keeps the last one, as `kubectl apply` does, and removes
// the others. Returns a description of each removed object. An object with a generated name has no
// duplicates. Must be called after the last Merge().
std::vector<std::string> RemoveRepeated(World* world);
// Adds to each ClusterRole with selectors the rules of the roles that they match, which may be
// aggregated roles themselves (admin selects edit, which selects view). Must be called after the
// last Merge(), because a selector may match roles of other files. Existing rules stay, because a
// cluster has resolved its roles before.
void ResolveAggregates(World* world);
// Adds the ServiceAccounts that bindings name to `accounts`.
void NoteSubjects(World* world);

}  // namespace mandate::rbacgen
