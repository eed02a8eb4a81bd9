// Roles and their bindings.
#ifndef MANAGER_OBJECT_KINDS_RBAC_V1_H_
#define MANAGER_OBJECT_KINDS_RBAC_V1_H_

#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace rbacv1 = ::k8s::io::api::rbac::v1;

template <>
struct KindOf<rbacv1::Role> {
  static constexpr KindInfo value = {.group = "rbac.authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "Role",
                                     .plural = "roles",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<rbacv1::RoleBinding> {
  static constexpr KindInfo value = {.group = "rbac.authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "RoleBinding",
                                     .plural = "rolebindings",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<rbacv1::ClusterRole> {
  static constexpr KindInfo value = {.group = "rbac.authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "ClusterRole",
                                     .plural = "clusterroles",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<rbacv1::ClusterRoleBinding> {
  static constexpr KindInfo value = {.group = "rbac.authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "ClusterRoleBinding",
                                     .plural = "clusterrolebindings",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kProtobuf};
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_RBAC_V1_H_
