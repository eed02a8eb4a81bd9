// Compares the existing bindings with those that a ScopeInstance wants.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "controllers/scope/binding.h"
#include "controllers/scope/instance_plan.h"
#include "controllers/scope/role_template.h"

namespace mandate::scope {

// A step of PlanInstance(): adds the required writes to the plan, and the grants that no write can
// end. One thread only.
class BindingDiffer {
 public:
  // Both outlive the differ. Bindings of former instances are revoked at once.
  BindingDiffer(const InstanceSnapshot& snapshot, InstancePlan& plan);

  // Adds that the role is wanted in `ns` (empty: in the cluster). Without `may_grant`, an existing
  // binding keeps its wanted subjects, and nothing is granted.
  void Want(const RoleTemplate& role, std::string_view ns, bool may_grant);

  // Revokes each existing binding that no call of Want() named, unless `keep` wants it.
  void RevokeUnwantedExcept(const std::function<bool(const Binding&)>& keep);
  void RevokeUnwanted();

 private:
  // Revokes a binding of ours that is not wanted.
  void Revoke(const Binding& actual);
  const std::shared_ptr<const rbacv1::RoleBinding>& Everywhere(const RoleTemplate& role);

  const InstanceSnapshot& snapshot_;
  InstancePlan& plan_;
  std::map<ObjectKey, const Binding*> actual_;  // our bindings
  std::set<ObjectKey> taken_;                   // bindings of others with our names
  std::set<ObjectKey> wanted_;
  std::map<std::string, std::shared_ptr<const rbacv1::RoleBinding>> everywhere_;  // by role
};

}  // namespace mandate::scope
