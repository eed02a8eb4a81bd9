// The core group. A minute of compiling for whoever builds it first: include it only where needed.
#ifndef MANAGER_OBJECT_KINDS_CORE_V1_H_
#define MANAGER_OBJECT_KINDS_CORE_V1_H_

#include "k8s.io/api/core/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace corev1 = ::k8s::io::api::core::v1;

template <>
struct KindOf<corev1::Namespace> {
  static constexpr KindInfo value = BuiltIn("", "Namespace", "namespaces", Scope::kCluster);
};

template <>
struct KindOf<corev1::ServiceAccount> {
  static constexpr KindInfo value = BuiltIn("", "ServiceAccount", "serviceaccounts");
};

template <>
struct KindOf<corev1::Secret> {
  static constexpr KindInfo value = BuiltIn("", "Secret", "secrets");
};

template <>
struct KindOf<corev1::ConfigMap> {
  static constexpr KindInfo value = BuiltIn("", "ConfigMap", "configmaps");
};

template <>
struct KindOf<corev1::Pod> {
  static constexpr KindInfo value = BuiltIn("", "Pod", "pods");
};

template <>
struct KindOf<corev1::Service> {
  static constexpr KindInfo value = BuiltIn("", "Service", "services");
};

template <>
struct KindOf<corev1::Event> {
  static constexpr KindInfo value = BuiltIn("", "Event", "events");
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_CORE_V1_H_
