// A RoleBinding or a ClusterRoleBinding, whichever: the two differ by having a namespace.
#ifndef CONTROLLERS_SCOPE_BINDING_H_
#define CONTROLLERS_SCOPE_BINDING_H_

#include <string>
#include <vector>

#include "controllers/scope/kinds.h"
#include "controllers/scope/role_template.h"
#include "manager/object/kind.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// `key.ns` empty: a ClusterRoleBinding.
struct Binding {
  ObjectKey key;
  rbacv1::RoleBinding object;  // a ClusterRoleBinding has the same fields

  bool in_cluster() const { return key.ns.empty(); }
  // "RoleBinding foo/x", "ClusterRoleBinding x".
  std::string ToString() const;
};

Binding FromRoleBinding(rbacv1::RoleBinding object);
Binding FromClusterRoleBinding(const rbacv1::ClusterRoleBinding& object);
rbacv1::ClusterRoleBinding ToClusterRoleBinding(const Binding& binding);

// The binding of one role for `owner` in `ns`, or in the cluster when that is empty.
Binding DesiredBinding(const operatorsv1alpha1::ScopeInstance& owner, const RoleTemplate& role,
                       std::string_view ns);

bool BelongsToInstance(const Binding& binding, const operatorsv1alpha1::ScopeInstance& owner);

// Whether it was made for an instance called `name` that is no more: one with another UID than
// `uid`, which is empty when there is none now.
bool BelongsToFormer(const Binding& binding, std::string_view name, std::string_view uid);

// roleRef cannot be changed: a binding with another one is replaced.
bool SameRoleRef(const Binding& a, const Binding& b);

// Whether `actual` needs no change to be `desired`, which is DesiredBinding's for `owner`.
bool IsAsDesired(const operatorsv1alpha1::ScopeInstance& owner, const Binding& desired,
                 const Binding& actual);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_BINDING_H_
