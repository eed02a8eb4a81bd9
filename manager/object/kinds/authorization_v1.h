// Reviews of what somebody may do. They are created, never stored.
#ifndef MANAGER_OBJECT_KINDS_AUTHORIZATION_V1_H_
#define MANAGER_OBJECT_KINDS_AUTHORIZATION_V1_H_

#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace authorizationv1 = ::k8s::io::api::authorization::v1;

template <>
struct KindOf<authorizationv1::SubjectAccessReview> {
  static constexpr KindInfo value = BuiltIn("authorization.k8s.io", "SubjectAccessReview",
                                            "subjectaccessreviews", Scope::kCluster);
};

template <>
struct KindOf<authorizationv1::LocalSubjectAccessReview> {
  static constexpr KindInfo value =
      BuiltIn("authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews");
};

template <>
struct KindOf<authorizationv1::SelfSubjectAccessReview> {
  static constexpr KindInfo value = BuiltIn("authorization.k8s.io", "SelfSubjectAccessReview",
                                            "selfsubjectaccessreviews", Scope::kCluster);
};

template <>
struct KindOf<authorizationv1::SelfSubjectRulesReview> {
  static constexpr KindInfo value = BuiltIn("authorization.k8s.io", "SelfSubjectRulesReview",
                                            "selfsubjectrulesreviews", Scope::kCluster);
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_AUTHORIZATION_V1_H_
