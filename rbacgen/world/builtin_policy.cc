#include "rbacgen/world/builtin_policy.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rbacgen/world/manifests.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kYaml =
#include "rbacgen/world/bootstrap_policy.inc"
    ;
constexpr std::string_view kOldestYaml =
#include "rbacgen/world/oldest_bootstrap_policy.inc"
    ;

World Read(std::string_view yaml) {
  return ReadManifests("the bootstrap policy", yaml, "kube-system").value();
}

template <class T>
std::string KeyOf(const T& object) {
  if constexpr (requires { object.ns; }) return object.ns + "/" + object.name;
  return object.name;
}

// Adds the objects of `more` that `wanted` accepts, unless `objects` has one with the same name.
template <class T, class Wanted>
void AddMissing(const std::vector<T>& more, Wanted wanted, std::vector<T>* objects) {
  std::set<std::string> known;
  for (const T& object : *objects) known.insert(KeyOf(object));
  for (const T& object : more) {
    if (wanted(object) && !known.contains(KeyOf(object))) objects->push_back(object);
  }
}

// The names of these ClusterRoles and of all ClusterRoles that they aggregate, also indirectly.
std::set<std::string> WithParts(std::vector<std::string> left,
                                const std::map<std::string, Aggregation>& aggregation) {
  std::set<std::string> parts;
  while (!left.empty()) {
    const std::string role = std::move(left.back());
    left.pop_back();
    const auto its = aggregation.find(role);
    if (!parts.insert(role).second || its == aggregation.end()) continue;
    for (const auto& [other, of] : aggregation) {
      const bool is_part = std::ranges::any_of(
          its->second.selectors,
          [&labels = of.labels](const LabelSelector& s) { return s.Matches(labels); });
      if (is_part) left.push_back(other);
    }
  }
  return parts;
}

template <class Wanted>
void AddClusterRoles(const World& builtin, Wanted wanted, World* world) {
  // If the world has the role, its own selectors stay.
  for (const auto& [name, aggregation] : builtin.aggregation) {
    if (wanted(name)) world->aggregation.try_emplace(name, aggregation);
  }
  AddMissing(
      builtin.policy.cluster_roles, [&](const auto& role) { return wanted(role.name); },
      &world->policy.cluster_roles);
}

// The names of the roles that the bindings refer to.
struct Referred {
  std::vector<std::string> cluster_roles;
  std::set<std::string> roles;  // namespace/name
};

Referred ReferredBy(const rbac::Policy& policy) {
  Referred referred;
  const auto note = [&](const auto& binding, const std::string& ns) {
    const rbac::RoleRef& ref = binding.role_ref;
    if (ref.kind == "Role") referred.roles.insert(ns + "/" + ref.name);
    if (ref.kind == "ClusterRole") referred.cluster_roles.push_back(ref.name);
  };
  for (const auto& binding : policy.cluster_role_bindings) note(binding, "");
  for (const auto& binding : policy.role_bindings) note(binding, binding.ns);
  return referred;
}

// Adds the roles of `builtin` that are referred to. Returns whether it added any.
bool AddReferred(const World& builtin, const Referred& referred, World* world) {
  rbac::Policy& policy = world->policy;
  const size_t before = policy.cluster_roles.size() + policy.roles.size();
  std::map<std::string, Aggregation> aggregation = world->aggregation;
  aggregation.insert(builtin.aggregation.begin(), builtin.aggregation.end());
  const std::set<std::string> parts = WithParts(referred.cluster_roles, aggregation);
  AddClusterRoles(
      builtin, [&](const std::string& name) { return parts.contains(name); }, world);
  AddMissing(
      builtin.policy.roles, [&](const auto& role) { return referred.roles.contains(KeyOf(role)); },
      &policy.roles);
  return policy.cluster_roles.size() + policy.roles.size() > before;
}

// Adds to each role the rules that `more` has for it.
template <class Role>
void AddRules(const std::vector<Role>& more, std::vector<Role>* roles) {
  std::map<std::string, const Role*> by_key;
  for (const Role& role : more) by_key[KeyOf(role)] = &role;
  for (Role& role : *roles) {
    const auto found = by_key.find(KeyOf(role));
    if (found == by_key.end()) continue;
    for (const rbac::Rule& rule : found->second->rules) {
      if (std::ranges::find(role.rules, rule) == role.rules.end()) role.rules.push_back(rule);
    }
  }
}

// The policy with the rules of both versions. Kubernetes 1.36 has all roles and bindings of the
// oldest version.
const World& EitherPolicy() {
  static const World& world = *[] {
    auto* either = new World(BuiltinPolicy());
    AddRules(OldestBuiltinPolicy().policy.cluster_roles, &either->policy.cluster_roles);
    AddRules(OldestBuiltinPolicy().policy.roles, &either->policy.roles);
    return either;
  }();
  return world;
}

}  // namespace

const World& BuiltinPolicy() {
  static const World& world = *new World(Read(kYaml));
  return world;
}

const World& OldestBuiltinPolicy() {
  static const World& world = *new World(Read(kOldestYaml));
  return world;
}

void AddBuiltinRoles(World* world) {
  if (world->is_whole) return;
  const Referred referred = ReferredBy(world->policy);
  World oldest = *world;
  if (!AddReferred(BuiltinPolicy(), referred, world)) return;
  AddReferred(OldestBuiltinPolicy(), referred, &oldest);
  ResolveAggregates(&oldest);
  world->in_oldest = std::make_shared<const rbac::Policy>(std::move(oldest.policy));
}

void AddBuiltinPolicy(World* world) { AddBuiltinPolicy(EitherPolicy(), world); }

void AddBuiltinPolicy(const World& builtin, World* world) {
  if (world->is_whole) return;
  const auto any = [](const auto&) { return true; };
  AddClusterRoles(builtin, any, world);
  AddMissing(builtin.policy.roles, any, &world->policy.roles);
  AddMissing(builtin.policy.cluster_role_bindings, any, &world->policy.cluster_role_bindings);
  AddMissing(builtin.policy.role_bindings, any, &world->policy.role_bindings);
  world->accounts.insert(builtin.accounts.begin(), builtin.accounts.end());
}

}  // namespace mandate::rbacgen
