#include "rbacgen/analysis/builtin_policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rbacgen/analysis/manifests.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kYaml =
#include "rbacgen/analysis/bootstrap_policy.inc"
    ;

template <class T>
std::string KeyOf(const T& object) {
  if constexpr (requires { object.ns; }) return object.ns + "/" + object.name;
  return object.name;
}

// Adds the `more` that `wanted` accepts and that `objects` has none of that name of.
template <class T, class Wanted>
void AddMissing(const std::vector<T>& more, Wanted wanted, std::vector<T>* objects) {
  std::set<std::string> known;
  for (const T& object : *objects) known.insert(KeyOf(object));
  for (const T& object : more) {
    if (wanted(object) && !known.contains(KeyOf(object))) objects->push_back(object);
  }
}

// The names of these ClusterRoles and of all that they aggregate, by way of others too.
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
void AddClusterRoles(Wanted wanted, World* world) {
  const World& builtin = BuiltinPolicy();
  // A role of the world's keeps what the world says of it.
  for (const auto& [name, aggregation] : builtin.aggregation) {
    if (wanted(name)) world->aggregation.try_emplace(name, aggregation);
  }
  AddMissing(
      builtin.policy.cluster_roles, [&](const auto& role) { return wanted(role.name); },
      &world->policy.cluster_roles);
}

}  // namespace

const World& BuiltinPolicy() {
  static const World& world = *[] {
    return new World(ReadManifests("the bootstrap policy", kYaml, "kube-system").value());
  }();
  return world;
}

void AddBuiltinRoles(World* world) {
  if (world->is_whole) return;
  rbac::Policy& policy = world->policy;
  std::vector<std::string> referred;
  std::set<std::string> roles;  // namespace/name
  const auto note = [&](const auto& binding, const std::string& ns) {
    const rbac::RoleRef& ref = binding.role_ref;
    if (ref.kind == "Role") roles.insert(ns + "/" + ref.name);
    if (ref.kind == "ClusterRole") referred.push_back(ref.name);
  };
  for (const auto& binding : policy.cluster_role_bindings) note(binding, "");
  for (const auto& binding : policy.role_bindings) note(binding, binding.ns);
  std::map<std::string, Aggregation> aggregation = world->aggregation;
  aggregation.insert(BuiltinPolicy().aggregation.begin(), BuiltinPolicy().aggregation.end());
  const std::set<std::string> parts = WithParts(std::move(referred), aggregation);
  AddClusterRoles([&](const std::string& name) { return parts.contains(name); }, world);
  AddMissing(
      BuiltinPolicy().policy.roles, [&](const auto& role) { return roles.contains(KeyOf(role)); },
      &policy.roles);
}

void AddBuiltinPolicy(World* world) {
  if (world->is_whole) return;
  const World& builtin = BuiltinPolicy();
  AddClusterRoles([](const std::string&) { return true; }, world);
  const auto any = [](const auto&) { return true; };
  AddMissing(builtin.policy.roles, any, &world->policy.roles);
  AddMissing(builtin.policy.cluster_role_bindings, any, &world->policy.cluster_role_bindings);
  AddMissing(builtin.policy.role_bindings, any, &world->policy.role_bindings);
  world->accounts.insert(builtin.accounts.begin(), builtin.accounts.end());
}

}  // namespace mandate::rbacgen
