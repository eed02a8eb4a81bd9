// A RoleBinding or a ClusterRoleBinding: the two differ only in the namespace.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controllers/scope/kinds.h"
#include "controllers/scope/role_template.h"
#include "manager/object/kind.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// An empty `key.ns` means a ClusterRoleBinding.
struct Binding {
  ObjectKey key;
  rbacv1::RoleBinding object;  // a ClusterRoleBinding has the same fields

  bool in_cluster() const { return key.ns.empty(); }
  // "RoleBinding foo/x", "ClusterRoleBinding x".
  std::string ToString() const;
};

// A binding to create. An instance may want thousands of one role that differ only in name and
// namespace.
struct NewBinding {
  ObjectKey key;
  std::shared_ptr<const rbacv1::RoleBinding> common;

  Binding Make() const;
};

Binding ToBinding(rbacv1::RoleBinding object);
Binding ToBinding(const rbacv1::ClusterRoleBinding& object);
rbacv1::ClusterRoleBinding ToClusterRoleBinding(const Binding& binding);

// The key of the binding of one role for `owner` in `ns` (empty: in the cluster), and the object
// that it shares with the role's other bindings.
Binding DesiredBinding(const operatorsv1alpha1::ScopeInstance& owner, const RoleTemplate& role,
                       std::string_view ns);
ObjectKey DesiredKey(const operatorsv1alpha1::ScopeInstance& owner, const RoleTemplate& role,
                     std::string_view ns);
std::shared_ptr<const rbacv1::RoleBinding> DesiredEverywhere(
    const operatorsv1alpha1::ScopeInstance& owner, const RoleTemplate& role);

// Whether the binding was made for the instance with this UID, by its name and its controller; or,
// if another user removed the controller reference, by its name and its label.
bool BelongsToInstance(const Binding& binding, std::string_view instance_uid);

// The same for any instance, including deleted ones.
bool BelongsToSomeInstance(const Binding& binding);

// Whether the binding was made for a deleted instance called `name`, with another UID than `uid`.
// An empty `uid` means that no instance has the name now.
bool BelongsToFormer(const Binding& binding, std::string_view name, std::string_view uid);

// Whether the binding has a name that the instance generates. It may have another owner.
bool HasNameOf(const Binding& binding, std::string_view instance_uid);

// Whether the binding's label or controller names the instance. Both may be forged.
bool Claims(const Binding& binding, std::string_view instance_uid);

// roleRef cannot be changed: a binding with another one is replaced.
bool SameRoleRef(const Binding& a, const Binding& b);

// The first difference of `actual` to `desired`, a DesiredBinding(), for messages: "roleRef",
// "subjects", "label a/b", "owner reference", "other owner references" (the binding would outlive
// the instance). Empty if there is none. Labels of other managers do not matter.
std::string Difference(const Binding& desired, const Binding& actual);

// Whether `actual` has subjects that `desired` lacks.
bool HasMoreSubjects(const Binding& desired, const Binding& actual);

// `desired` with only the subjects that `actual` has. Writing it grants nothing.
Binding WithoutNewSubjects(Binding desired, const Binding& actual);

// The same binding without subjects, which grants nothing, for a deletion that has to wait.
Binding WithoutSubjects(const Binding& actual);

// For messages: `RoleBinding foo/x grants ClusterRole "y" to 2 subjects`.
std::string GrantText(const Binding& binding);

}  // namespace mandate::scope
