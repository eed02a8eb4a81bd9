// It is compiled once for each case (compile_fail.bzl), and never runs.
#include "manager/client/client.h"
#include "manager/identity/identity.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#if defined(CONTROL_CORE) || defined(UNDECLARED_EVICTION) || defined(UNDECLARED_BINDING) || \
    defined(UNDECLARED_TOKEN) || defined(UNDECLARED_LOG)
#include "manager/object/kinds/core_v1.h"  // long to compile
#endif

namespace mandate {

constexpr std::string_view kReadAndPatch[] = {"get", "list", "patch"};
constexpr std::string_view kAll[] = {"*"};
constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kRoles[] = {"clusterroles"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kPods[] = {"pods", "serviceaccounts"};
constexpr std::string_view kSubresources[] = {"pods/eviction", "pods/binding", "pods/log",
                                              "serviceaccounts/token"};
constexpr rbac::MandateRule kCoreRules[] = {
    {.rule = {.verbs = kAll, .api_groups = kCore, .resources = kSubresources}}};
inline constexpr rbac::Mandate kDrain = {.component = "drain", .rules = kCoreRules};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAll, .api_groups = kCore, .resources = kPods}},
    {.rule = {.verbs = kReadAndPatch, .api_groups = kRbac, .resources = kRoles}},
    {.rule = {.verbs = kAll, .api_groups = kCoordination, .resources = kLeases}, .ns = "mandate"},
};
inline constexpr rbac::Mandate kAuditor = {.component = "auditor", .rules = kRules};

template <class T>
concept Updates = requires(Client<kAuditor> client, CallContext context, T object) {
  client.Update(context, object);
};
// A requires-expression gets an answer instead of an error.
static_assert(Updates<coordinationv1::Lease> && !Updates<rbacv1::ClusterRole>);

void Test(Client<kAuditor>& client, const CallContext& context, rbacv1::ClusterRole role,
          rbacv1::Role other, coordinationv1::Lease lease, Client<kDrain>& drain) {
#if defined(CONTROL)
  (void)client.Get<rbacv1::ClusterRole>(context, {"", "a"});
  (void)client.List<rbacv1::ClusterRole>(context);
  (void)client.ForEach<rbacv1::ClusterRole>(context, {},
                                            [](const auto&) { return absl::OkStatus(); });
  (void)client.Patch<rbacv1::ClusterRole>(context, {"", "a"}, MergePatch::Unconditional("{}"));
  (void)client.Watch<coordinationv1::Lease>(context, {.ns = "mandate"},
                                            [](const auto&) { return absl::OkStatus(); });
  (void)client.Update(context, lease);
  (void)client.Apply(context, lease);
  (void)client.Create(context, lease, {.dry_run = true});
  (void)client.Update(context, lease, {.field_validation = FieldValidation::kStrict});
  (void)client.Ensure(context, lease, &lease);
  (void)client.RemoveFields(context, role, {});
  (void)client.Delete<coordinationv1::Lease>(context, {"mandate", "a"});
  (void)client.DeleteAllOf<coordinationv1::Lease>(context, {.ns = "mandate"});
#elif defined(UNDECLARED_VERB)
  (void)client.Update(context, role);
#elif defined(UNDECLARED_DELETE)
  (void)client.Delete<rbacv1::ClusterRole>(context, {"", "a"});
#elif defined(UNDECLARED_DELETE_ALL_OF)
  (void)client.DeleteAllOf<rbacv1::ClusterRole>(context, {});
#elif defined(UNDECLARED_KIND)
  (void)client.Get<rbacv1::Role>(context, {"a", "b"});
#elif defined(UNDECLARED_FOR_EACH)
  (void)client.ForEach<rbacv1::Role>(context, {}, [](const auto&) { return absl::OkStatus(); });
#elif defined(UNDECLARED_WATCH)
  (void)client.Watch<rbacv1::ClusterRole>(context, {},
                                          [](const auto&) { return absl::OkStatus(); });
#elif defined(APPLY_NEEDS_CREATE)
  (void)client.Apply(context, role);
#elif defined(ENSURE_NEEDS_CREATE)
  (void)client.Ensure(context, role, nullptr);
#elif defined(UNDECLARED_STATUS)
  (void)client.UpdateStatus(context, lease);
#elif defined(UNDECLARED_SCALE)
  (void)client.GetScale<coordinationv1::Lease>(context, {"mandate", "a"});
#elif defined(CONTROL_CORE)
  (void)drain.Evict(context, {"a", "b"}, {.uid = "u"});
  (void)drain.Bind(context, {"a", "b"}, "node");
  (void)drain.CreateToken(context, {"a", "b"});
  (void)drain.PodLogs(context, {"a", "b"}, {}, {});
#elif defined(UNDECLARED_EVICTION)
  (void)client.Evict(context, {"a", "b"});
#elif defined(UNDECLARED_LOG)
  (void)client.PodLogs(context, {"a", "b"}, {}, {});
#elif defined(UNDECLARED_BINDING)
  (void)client.Bind(context, {"a", "b"}, "node");
#elif defined(UNDECLARED_TOKEN)
  (void)client.CreateToken(context, {"a", "b"});
#elif defined(CLIENT_WITHOUT_MANDATE)
  Client<> none;
#elif defined(BASE_KEY)
  BaseAccess key;
#elif defined(BASE_KEY_BRACES)
  BaseAccess key{};
#elif defined(IDENTITY_OF_ONES_OWN)
  ComponentIdentity identity({}, "ns", "sa");
#elif defined(REQUEST_WITHOUT_CREDENTIAL)
  HttpRequest request(nullptr, "GET", "/");
#elif defined(PRINTED_SECRET)
  std::string text = StrCat("token: ", Secret("x"));
#else
#error "no such case"
#endif
  (void)role;
  (void)other;
  (void)lease;
  (void)drain;
}

}  // namespace mandate
