// Compares KindOf of each kind with the name of its message.
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/authentication_v1.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/kinds/autoscaling_v1.h"
#include "manager/object/kinds/autoscaling_v2.h"
#include "manager/object/kinds/batch_v1.h"
#include "manager/object/kinds/certificates_v1.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/kinds/discovery_v1.h"
#include "manager/object/kinds/events_v1.h"
#include "manager/object/kinds/flowcontrol_v1.h"
#include "manager/object/kinds/networking_v1.h"
#include "manager/object/kinds/node_v1.h"
#include "manager/object/kinds/policy_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/kinds/resource_v1.h"
#include "manager/object/kinds/scheduling_v1.h"
#include "manager/object/kinds/storage_v1.h"

namespace mandate {
namespace {

// Compares the name, such as "k8s.io.api.rbac.v1.Role", with the kind's group (without its domain),
// version and name.
template <Object T>
void Check(bool namespaced) {
  constexpr KindInfo kind = KindOf<T>::value;
  const std::string group(kind.group.substr(0, kind.group.find('.')));
  EXPECT_EQ(T::descriptor()->full_name(), "k8s.io.api." + (group.empty() ? "core" : group) + "." +
                                              std::string(kind.version) + "." +
                                              std::string(kind.kind));
  EXPECT_EQ(kind.scope, namespaced ? Scope::kNamespaced : Scope::kCluster) << kind.kind;
  EXPECT_EQ(kind.encoding, Encoding::kProtobuf) << kind.kind;
  EXPECT_FALSE(kind.plural.empty());
}

TEST(KindsTest, SayWhatTheirMessagesAre) {
  Check<rbacv1::Role>(true);
  Check<rbacv1::RoleBinding>(true);
  Check<rbacv1::ClusterRole>(false);
  Check<rbacv1::ClusterRoleBinding>(false);
  Check<corev1::Namespace>(false);
  Check<corev1::ServiceAccount>(true);
  Check<corev1::Secret>(true);
  Check<corev1::ConfigMap>(true);
  Check<corev1::Pod>(true);
  Check<corev1::Service>(true);
  Check<corev1::Event>(true);
  Check<appsv1::Deployment>(true);
  Check<appsv1::StatefulSet>(true);
  Check<appsv1::DaemonSet>(true);
  Check<appsv1::ReplicaSet>(true);
  Check<batchv1::Job>(true);
  Check<batchv1::CronJob>(true);
  Check<eventsv1::Event>(true);
  Check<coordinationv1::Lease>(true);
  Check<authenticationv1::TokenReview>(false);
  Check<authenticationv1::SelfSubjectReview>(false);
  Check<authenticationv1::TokenRequest>(true);
  Check<authorizationv1::SubjectAccessReview>(false);
  Check<authorizationv1::LocalSubjectAccessReview>(true);
  Check<authorizationv1::SelfSubjectAccessReview>(false);
  Check<authorizationv1::SelfSubjectRulesReview>(false);
  Check<autoscalingv1::HorizontalPodAutoscaler>(true);
  Check<autoscalingv2::HorizontalPodAutoscaler>(true);
  Check<certificatesv1::CertificateSigningRequest>(false);
  Check<discoveryv1::EndpointSlice>(true);
  Check<flowcontrolv1::FlowSchema>(false);
  Check<flowcontrolv1::PriorityLevelConfiguration>(false);
  Check<networkingv1::Ingress>(true);
  Check<networkingv1::IngressClass>(false);
  Check<networkingv1::NetworkPolicy>(true);
  Check<networkingv1::ServiceCIDR>(false);
  Check<nodev1::RuntimeClass>(false);
  Check<policyv1::PodDisruptionBudget>(true);
  Check<resourcev1::DeviceClass>(false);
  Check<resourcev1::ResourceClaim>(true);
  Check<schedulingv1::PriorityClass>(false);
  Check<storagev1::StorageClass>(false);
  Check<storagev1::CSIStorageCapacity>(true);
}

TEST(KindsTest, OptionsOfConnectHaveTheirSubresource) {
  EXPECT_EQ(KindOf<corev1::PodExecOptions>::value, BuiltIn("", "PodExecOptions", "pods/exec"));
  EXPECT_EQ(KindOf<corev1::NodeProxyOptions>::value,
            BuiltIn("", "NodeProxyOptions", "nodes/proxy", Scope::kCluster));
}

TEST(KindsTest, ApiVersions) {
  EXPECT_EQ(KindOf<corev1::Pod>::value.ApiVersion(), "v1");
  EXPECT_EQ(KindOf<rbacv1::Role>::value.ApiVersion(), "rbac.authorization.k8s.io/v1");
}

}  // namespace
}  // namespace mandate
