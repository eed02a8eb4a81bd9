// Webhook configurations.
#ifndef MANAGER_OBJECT_KINDS_ADMISSIONREGISTRATION_V1_H_
#define MANAGER_OBJECT_KINDS_ADMISSIONREGISTRATION_V1_H_

#include "k8s.io/api/admissionregistration/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace admissionregistrationv1 = ::k8s::io::api::admissionregistration::v1;

template <>
struct KindOf<admissionregistrationv1::MutatingWebhookConfiguration> {
  static constexpr KindInfo value =
      BuiltIn("admissionregistration.k8s.io", "MutatingWebhookConfiguration",
              "mutatingwebhookconfigurations", Scope::kCluster);
};

template <>
struct KindOf<admissionregistrationv1::ValidatingWebhookConfiguration> {
  static constexpr KindInfo value =
      BuiltIn("admissionregistration.k8s.io", "ValidatingWebhookConfiguration",
              "validatingwebhookconfigurations", Scope::kCluster);
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_ADMISSIONREGISTRATION_V1_H_
