// Compares the bindings that are there with those that a ScopeInstance wants.
#ifndef CONTROLLERS_SCOPE_BINDING_DIFFER_H_
#define CONTROLLERS_SCOPE_BINDING_DIFFER_H_

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

// A step of PlanInstance(): adds to the plan what has to be written, and what no write can end. One
// thread only.
class BindingDiffer {
 public:
  // Both outlive the differ. Bindings of former instances are revoked at once.
  BindingDiffer(const InstanceSnapshot& snapshot, InstancePlan& plan);

  // The role is wanted in `ns` (empty: in the cluster). `may_grant` false: what is there stays, as
  // far as it is wanted; nothing is granted.
  void Want(const RoleTemplate& role, std::string_view ns, bool may_grant);

  // The bindings that are there and were not named to Want(): each is revoked unless `keep` wants
  // it.
  void Rest(const std::function<bool(const Binding&)>& keep);
  void RevokeRest();

 private:
  // Nothing wants this binding of ours.
  void Revoke(const Binding& actual);
  const std::shared_ptr<const rbacv1::RoleBinding>& Everywhere(const RoleTemplate& role);

  const InstanceSnapshot& snapshot_;
  InstancePlan& plan_;
  std::map<ObjectKey, const Binding*> actual_;  // ours
  std::set<ObjectKey> taken_;                   // not ours, under a name of ours
  std::set<ObjectKey> wanted_;
  std::map<std::string, std::shared_ptr<const rbacv1::RoleBinding>> everywhere_;  // by role
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_BINDING_DIFFER_H_
