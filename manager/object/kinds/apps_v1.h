// The group apps. It has pods in it: as slow to compile as the core group.
#ifndef MANAGER_OBJECT_KINDS_APPS_V1_H_
#define MANAGER_OBJECT_KINDS_APPS_V1_H_

#include "k8s.io/api/apps/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace appsv1 = ::k8s::io::api::apps::v1;

template <>
struct KindOf<appsv1::Deployment> {
  static constexpr KindInfo value = {.group = "apps",
                                     .version = "v1",
                                     .kind = "Deployment",
                                     .plural = "deployments",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<appsv1::StatefulSet> {
  static constexpr KindInfo value = {.group = "apps",
                                     .version = "v1",
                                     .kind = "StatefulSet",
                                     .plural = "statefulsets",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<appsv1::DaemonSet> {
  static constexpr KindInfo value = {.group = "apps",
                                     .version = "v1",
                                     .kind = "DaemonSet",
                                     .plural = "daemonsets",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<appsv1::ReplicaSet> {
  static constexpr KindInfo value = {.group = "apps",
                                     .version = "v1",
                                     .kind = "ReplicaSet",
                                     .plural = "replicasets",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_APPS_V1_H_
