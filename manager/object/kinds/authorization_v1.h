// Reviews of what somebody may do. They are created, never stored.
#ifndef MANAGER_OBJECT_KINDS_AUTHORIZATION_V1_H_
#define MANAGER_OBJECT_KINDS_AUTHORIZATION_V1_H_

#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace authorizationv1 = ::k8s::io::api::authorization::v1;

template <>
struct KindOf<authorizationv1::SubjectAccessReview> {
  static constexpr KindInfo value = {.group = "authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "SubjectAccessReview",
                                     .plural = "subjectaccessreviews",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<authorizationv1::LocalSubjectAccessReview> {
  static constexpr KindInfo value = {.group = "authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "LocalSubjectAccessReview",
                                     .plural = "localsubjectaccessreviews",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<authorizationv1::SelfSubjectAccessReview> {
  static constexpr KindInfo value = {.group = "authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "SelfSubjectAccessReview",
                                     .plural = "selfsubjectaccessreviews",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kProtobuf};
};

template <>
struct KindOf<authorizationv1::SelfSubjectRulesReview> {
  static constexpr KindInfo value = {.group = "authorization.k8s.io",
                                     .version = "v1",
                                     .kind = "SelfSubjectRulesReview",
                                     .plural = "selfsubjectrulesreviews",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kProtobuf};
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_AUTHORIZATION_V1_H_
