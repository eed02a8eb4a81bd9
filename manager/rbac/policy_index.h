// A constant policy, indexed by the keys that the authorizer looks up.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/rbac/policy_reader.h"

namespace mandate::rbac {

// Immutable.
class PolicyIndex : public PolicyReader {
 public:
  // If two roles have the same name, the first counts.
  explicit PolicyIndex(Policy policy);
  PolicyIndex(const PolicyIndex&) = delete;
  PolicyIndex& operator=(const PolicyIndex&) = delete;

  const std::vector<Rule>* RulesOfRole(std::string_view ns, std::string_view name) const override;
  const std::vector<Rule>* RulesOfClusterRole(std::string_view name) const override;
  void VisitClusterRoleBindings(
      absl::FunctionRef<bool(const ClusterRoleBinding&)> visit) const override;
  void VisitRoleBindings(std::string_view ns,
                         absl::FunctionRef<bool(const RoleBinding&)> visit) const override;
  std::vector<std::string> BindingNamespaces() const override;

 private:
  const Policy policy_;
  // Keys borrow from policy_.
  std::map<std::pair<std::string_view, std::string_view>, const std::vector<Rule>*> roles_;
  std::map<std::string_view, const std::vector<Rule>*> cluster_roles_;
  std::map<std::string_view, std::vector<const RoleBinding*>> role_bindings_;
};

}  // namespace mandate::rbac
