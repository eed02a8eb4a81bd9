// Reads the stored roles and bindings for the authorizer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/policy_reader.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// A reader that decodes each object once. Loop thread only.
class StoredPolicy : public rbac::PolicyReader {
 public:
  // Borrows the objects.
  explicit StoredPolicy(const ObjectReader& objects) : objects_(objects) {}

  const std::vector<rbac::Rule>* RulesOfRole(std::string_view ns,
                                             std::string_view name) const override;
  const std::vector<rbac::Rule>* RulesOfClusterRole(std::string_view name) const override;
  void VisitClusterRoleBindings(
      absl::FunctionRef<bool(const rbac::ClusterRoleBinding&)> visit) const override;
  void VisitRoleBindings(std::string_view ns,
                         absl::FunctionRef<bool(const rbac::RoleBinding&)> visit) const override;
  std::vector<std::string> BindingNamespaces() const override;

 private:
  const ObjectReader& objects_;
};

}  // namespace mandate::apiserver
