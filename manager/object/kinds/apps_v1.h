// The group apps. It has pods in it: as slow to compile as the core group.
#ifndef MANAGER_OBJECT_KINDS_APPS_V1_H_
#define MANAGER_OBJECT_KINDS_APPS_V1_H_

#include "k8s.io/api/apps/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace appsv1 = ::k8s::io::api::apps::v1;

template <>
struct KindOf<appsv1::Deployment> {
  static constexpr KindInfo value = BuiltIn("apps", "Deployment", "deployments");
};

template <>
struct KindOf<appsv1::StatefulSet> {
  static constexpr KindInfo value = BuiltIn("apps", "StatefulSet", "statefulsets");
};

template <>
struct KindOf<appsv1::DaemonSet> {
  static constexpr KindInfo value = BuiltIn("apps", "DaemonSet", "daemonsets");
};

template <>
struct KindOf<appsv1::ReplicaSet> {
  static constexpr KindInfo value = BuiltIn("apps", "ReplicaSet", "replicasets");
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_APPS_V1_H_
