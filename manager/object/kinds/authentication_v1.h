// Reviews of who somebody is. They are created, never stored.
#ifndef MANAGER_OBJECT_KINDS_AUTHENTICATION_V1_H_
#define MANAGER_OBJECT_KINDS_AUTHENTICATION_V1_H_

#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace authenticationv1 = ::k8s::io::api::authentication::v1;

template <>
struct KindOf<authenticationv1::TokenReview> {
  static constexpr KindInfo value =
      BuiltIn("authentication.k8s.io", "TokenReview", "tokenreviews", Scope::kCluster);
};

template <>
struct KindOf<authenticationv1::SelfSubjectReview> {
  static constexpr KindInfo value =
      BuiltIn("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews", Scope::kCluster);
};

// A subresource: POST …/serviceaccounts/NAME/token. It travels in a group of its own, and RBAC asks
// for "create" on serviceaccounts/token in the core group.
template <>
struct KindOf<authenticationv1::TokenRequest> {
  static constexpr KindInfo value =
      BuiltIn("authentication.k8s.io", "TokenRequest", "serviceaccounts/token");
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_AUTHENTICATION_V1_H_
