#include "manager/rbac/policy_index.h"

#include <algorithm>

namespace mandate::rbac {

PolicyIndex::PolicyIndex(Policy policy) : policy_(std::move(policy)) {
  for (const Role& r : policy_.roles) roles_.try_emplace({r.ns, r.name}, &r.rules);
  for (const ClusterRole& r : policy_.cluster_roles) cluster_roles_.try_emplace(r.name, &r.rules);
  for (const RoleBinding& b : policy_.role_bindings) role_bindings_[b.ns].push_back(&b);
}

const std::vector<Rule>* PolicyIndex::RulesOfRole(std::string_view ns,
                                                  std::string_view name) const {
  const auto found = roles_.find({ns, name});
  return found == roles_.end() ? nullptr : found->second;
}

const std::vector<Rule>* PolicyIndex::RulesOfClusterRole(std::string_view name) const {
  const auto found = cluster_roles_.find(name);
  return found == cluster_roles_.end() ? nullptr : found->second;
}

void PolicyIndex::VisitClusterRoleBindings(
    absl::FunctionRef<bool(const ClusterRoleBinding&)> visit) const {
  std::ranges::all_of(policy_.cluster_role_bindings, visit);
}

void PolicyIndex::VisitRoleBindings(std::string_view ns,
                                    absl::FunctionRef<bool(const RoleBinding&)> visit) const {
  const auto found = role_bindings_.find(ns);
  if (found == role_bindings_.end()) return;
  std::ranges::all_of(found->second, [&](const RoleBinding* binding) { return visit(*binding); });
}

std::vector<std::string> PolicyIndex::BindingNamespaces() const {
  std::vector<std::string> namespaces;
  for (const auto& [ns, bindings] : role_bindings_) namespaces.emplace_back(ns);
  return namespaces;
}

}  // namespace mandate::rbac
