// Roles and their bindings.
#ifndef MANAGER_OBJECT_KINDS_RBAC_V1_H_
#define MANAGER_OBJECT_KINDS_RBAC_V1_H_

#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace rbacv1 = ::k8s::io::api::rbac::v1;

template <>
struct KindOf<rbacv1::Role> {
  static constexpr KindInfo value = BuiltIn("rbac.authorization.k8s.io", "Role", "roles");
};

template <>
struct KindOf<rbacv1::RoleBinding> {
  static constexpr KindInfo value =
      BuiltIn("rbac.authorization.k8s.io", "RoleBinding", "rolebindings");
};

template <>
struct KindOf<rbacv1::ClusterRole> {
  static constexpr KindInfo value =
      BuiltIn("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", Scope::kCluster);
};

template <>
struct KindOf<rbacv1::ClusterRoleBinding> {
  static constexpr KindInfo value = BuiltIn("rbac.authorization.k8s.io", "ClusterRoleBinding",
                                            "clusterrolebindings", Scope::kCluster);
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_RBAC_V1_H_
