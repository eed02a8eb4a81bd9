// The core group. A minute of compiling for whoever builds it first: include it only where needed.
#ifndef MANAGER_OBJECT_KINDS_CORE_V1_H_
#define MANAGER_OBJECT_KINDS_CORE_V1_H_

#include "k8s.io/api/core/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace corev1 = ::k8s::io::api::core::v1;

template <>
struct KindOf<corev1::Namespace> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "Namespace",
                                     .plural = "namespaces",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<corev1::ServiceAccount> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "ServiceAccount",
                                     .plural = "serviceaccounts",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<corev1::Secret> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "Secret",
                                     .plural = "secrets",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<corev1::ConfigMap> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "ConfigMap",
                                     .plural = "configmaps",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<corev1::Pod> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "Pod",
                                     .plural = "pods",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<corev1::Service> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "Service",
                                     .plural = "services",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<corev1::Event> {
  static constexpr KindInfo value = {.group = "",
                                     .version = "v1",
                                     .kind = "Event",
                                     .plural = "events",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_CORE_V1_H_
