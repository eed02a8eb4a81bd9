// Compiled once for each case (client/compile_fail.bzl), never run.
#include "manager/controller/builder_for.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {

constexpr std::string_view kListAndWatch[] = {"list", "watch"};
constexpr std::string_view kListOnly[] = {"list"};
constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kRoles[] = {"roles"};
constexpr std::string_view kClusterRoles[] = {"clusterroles"};
constexpr rbac::MandateRule kRules[] = {{{kListAndWatch, kRbac, kRoles, {}, {}}, "", false},
                                        {{kListOnly, kRbac, kClusterRoles, {}, {}}, "", false}};
inline constexpr rbac::Mandate kAuditor = {.component = "auditor", .rules = kRules};

void Test(BuilderFor<kAuditor>& builder) {
  const auto map = [](const ObjectEvent&) { return std::vector<Request>(); };
#if defined(CONTROL)
  builder.Named("a").For<rbacv1::Role>().Owns<rbacv1::Role>().Watches<rbacv1::Role>(map);
#elif defined(FOR_UNDECLARED)
  builder.For<rbacv1::RoleBinding>();
#elif defined(OWNS_WITHOUT_WATCH)
  builder.Owns<rbacv1::ClusterRole>();
#elif defined(WATCHES_UNDECLARED)
  builder.Watches<rbacv1::RoleBinding>(map);
#else
#error "no such case"
#endif
}

}  // namespace mandate
