// It is compiled once for each case (client/compile_fail.bzl), and never runs.
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/metadata.h"

namespace mandate {

constexpr std::string_view kListAndWatch[] = {"list", "watch"};
constexpr std::string_view kListOnly[] = {"list"};
constexpr std::string_view kWatchOnly[] = {"watch"};
constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kRoles[] = {"roles"};
constexpr std::string_view kClusterRoles[] = {"clusterroles"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr std::string_view kSettings[] = {"settings"};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kPods[] = {"pods"};
constexpr std::string_view kServices[] = {"services"};
constexpr std::string_view kServiceAccounts[] = {"serviceaccounts"};
constexpr std::string_view kNodes[] = {"nodes"};
constexpr rbac::MandateRule kRules[] = {
    {{kListAndWatch, kRbac, kRoles, {}, {}}, "", false},
    {{kListOnly, kRbac, kClusterRoles, {}, {}}, "", false},
    {{kListAndWatch, kCoordination, kLeases, {}, {}}, "default", false},
    {{kListAndWatch, kCore, kConfigMaps, kSettings, {}}, "default", false},
    {{kListOnly, kCore, kSecrets, {}, {}}, "", false},
    {{kWatchOnly, kCore, kSecrets, {}, {}}, "default", false},
    {{kListOnly, kCore, kPods, {}, {}}, "a", false},
    {{kListAndWatch, kCore, kPods, {}, {}}, "b", false},
    {{kListAndWatch, kCore, kServices, {}, {}}, rbac::kManagerNamespace, false},
    {{kListAndWatch, kCore, kServiceAccounts, kSettings, {}}, "", false},
    {{kListAndWatch, kCore, kNodes, kSettings, {}}, "", false}};
inline constexpr rbac::Mandate kAuditor = {.component = "auditor", .rules = kRules};

void Test(ControllerBuilder<kAuditor>& builder, [[maybe_unused]] DemandSet& demands) {
  const auto map = [](const ObjectEvent&) { return std::vector<Request>(); };
#if defined(CONTROL)
  builder.Named("a").For<rbacv1::Role>().Owns<rbacv1::Role>().Watches<rbacv1::Role>(map);
  const InNamespace in{"default"};
  builder.For<coordinationv1::Lease>(in, GenerationChanged()).Owns<coordinationv1::Lease>(in);
  builder.Watches<corev1::ConfigMap>(OneObject{"default", "settings"}, map, GenerationChanged());
  (void)DemandFor<kAuditor, coordinationv1::Lease>(in);
  (void)demands.Get({}, {}, DemandFor<kAuditor, coordinationv1::Lease>(OneObject{"default", "a"}));
  (void)DemandFor<kAuditor, rbacv1::Role>();
  (void)DemandFor<kAuditor, Metadata<coordinationv1::Lease>>(in);
  builder.Watches<Metadata<rbacv1::Role>>(map);
#elif defined(DEMAND_UNDECLARED)
  (void)DemandFor<kAuditor, rbacv1::RoleBinding>(InNamespace{"default"});
#elif defined(DEMAND_ONE_UNDECLARED)
  (void)DemandFor<kAuditor, rbacv1::RoleBinding>(OneObject{"default", "a"});
#elif defined(DEMAND_METADATA_UNDECLARED)
  (void)DemandFor<kAuditor, Metadata<rbacv1::RoleBinding>>(InNamespace{"default"});
#elif defined(DEMAND_EVERYWHERE_UNDECLARED)
  (void)DemandFor<kAuditor, rbacv1::RoleBinding>();
#elif defined(DEMAND_A_NAMESPACE)
  (void)DemandFor<kAuditor, coordinationv1::Lease>();
#elif defined(FOR_UNDECLARED)
  builder.For<rbacv1::RoleBinding>();
#elif defined(OWNS_WITHOUT_WATCH)
  builder.Owns<rbacv1::ClusterRole>();
#elif defined(WATCHES_UNDECLARED)
  builder.Watches<rbacv1::RoleBinding>(map);
#elif defined(FOR_A_NAMESPACE)
  builder.For<coordinationv1::Lease>(GenerationChanged());
#elif defined(OWNS_A_NAMESPACE)
  builder.Owns<coordinationv1::Lease>();
#elif defined(WATCHES_ONE_OBJECT)
  builder.Watches<corev1::ConfigMap>(map);
#elif defined(WATCHES_NAMES_IN_ANY_NAMESPACE)
  builder.Watches<corev1::ServiceAccount>(map);
#elif defined(WATCHES_NAMES_IN_NO_NAMESPACE)
  builder.Watches<corev1::Node>(map);
#elif defined(LISTS_EVERYWHERE_WATCHES_A_NAMESPACE)
  builder.Watches<corev1::Secret>(map);
#elif defined(LISTS_ALSO_ELSEWHERE)
  builder.Watches<corev1::Pod>(map);
#elif defined(WATCHES_ITS_OWN_NAMESPACE)
  builder.Watches<corev1::Service>(map);
#elif defined(SCOPED_UNDECLARED)
  builder.Watches<rbacv1::RoleBinding>(InNamespace{"default"}, map);
#else
#error "no such case"
#endif
}

}  // namespace mandate
