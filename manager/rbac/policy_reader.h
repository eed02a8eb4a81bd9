// The interface by which the authorizer looks up the roles and bindings of a cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "manager/rbac/policy.h"
#include "manager/rbac/rule.h"

namespace mandate::rbac {

// A view of a policy. The caller borrows the rules and bindings until the policy changes.
class PolicyReader {
 public:
  virtual ~PolicyReader() = default;

  // Null: the role does not exist.
  virtual const std::vector<Rule>* RulesOfRole(std::string_view ns,
                                               std::string_view name) const = 0;
  virtual const std::vector<Rule>* RulesOfClusterRole(std::string_view name) const = 0;

  // Until `visit` returns false.
  virtual void VisitClusterRoleBindings(
      absl::FunctionRef<bool(const ClusterRoleBinding&)> visit) const = 0;
  virtual void VisitRoleBindings(std::string_view ns,
                                 absl::FunctionRef<bool(const RoleBinding&)> visit) const = 0;

  // The namespaces that have RoleBindings, sorted.
  virtual std::vector<std::string> BindingNamespaces() const = 0;
};

}  // namespace mandate::rbac
