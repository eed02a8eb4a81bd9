// The kinds that a CONNECT has for its object: options, which have no metadata. A Validator of one
// of them admits `kubectl exec` and its like. Its marker names the subresource, and the path of the
// options' kind:
//
//   path=/validate--v1-podexecoptions,groups="",resources=pods/exec,verbs=connect,…
#ifndef MANAGER_ADMISSION_CONNECT_OPTIONS_H_
#define MANAGER_ADMISSION_CONNECT_OPTIONS_H_

#include "manager/object/kinds/core_v1.h"

namespace mandate {

template <>
struct KindOf<corev1::PodExecOptions> {
  static constexpr KindInfo value = BuiltIn("", "PodExecOptions", "pods");
};

template <>
struct KindOf<corev1::PodAttachOptions> {
  static constexpr KindInfo value = BuiltIn("", "PodAttachOptions", "pods");
};

template <>
struct KindOf<corev1::PodPortForwardOptions> {
  static constexpr KindInfo value = BuiltIn("", "PodPortForwardOptions", "pods");
};

template <>
struct KindOf<corev1::PodProxyOptions> {
  static constexpr KindInfo value = BuiltIn("", "PodProxyOptions", "pods");
};

template <>
struct KindOf<corev1::ServiceProxyOptions> {
  static constexpr KindInfo value = BuiltIn("", "ServiceProxyOptions", "services");
};

template <>
struct KindOf<corev1::NodeProxyOptions> {
  static constexpr KindInfo value = BuiltIn("", "NodeProxyOptions", "nodes", Scope::kCluster);
};

}  // namespace mandate

#endif  // MANAGER_ADMISSION_CONNECT_OPTIONS_H_
