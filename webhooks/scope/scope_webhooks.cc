#include "webhooks/scope/scope_webhooks.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/indexes.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"
#include "webhooks/scope/refusals.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// Access reviews of one call that are under way at once.
constexpr size_t kAtOnce = 16;

// `grants` is GrantsOfTemplate() or GrantsOfInstance() of the write.
absl::Status CheckUser(
    const ScopeWebhookOptions& options, AdmissionCall& call,
    absl::FunctionRef<absl::StatusOr<std::vector<Requirement>>(const GrantOptions&)> grants) {
  if (const auto all = grants(options.grants); all.ok() && all->empty()) return absl::OkStatus();
  // Administrators need two reviews, whatever the size of the object.
  ASSIGN_OR_RETURN(const auto may, options.ask(call, {EscalateAll(), BindAll()}));
  GrantOptions left = options.grants;
  left.may_escalate = may[0].allowed();
  left.may_bind = may[1].allowed();
  ASSIGN_OR_RETURN(const auto requirements, grants(left));
  return CheckRequirements(call.user().username(), requirements,
                           [&](std::vector<AccessQuestion> questions) {
                             return options.ask(call, std::move(questions));
                           });
}

template <class T>
absl::StatusOr<bool> IsBound(const CallContext& context, const CacheView& cache,
                             std::string_view cluster_role) {
  ASSIGN_OR_RETURN(const auto bindings, cache.ListBy<T>(context, {kByRoleRef, cluster_role}));
  return !bindings.empty();
}

// Why a role of this name cannot be the template's; "" if it can.
absl::StatusOr<std::string> WhyTakenBy(const CallContext& context, const CacheView& cache,
                                       std::string_view uid, std::string_view name) {
  const auto role = cache.Get<rbacv1::ClusterRole>(context, {"", std::string(name)});
  if (role.ok()) {
    const std::string why = WhyForeign(*role, uid);
    return why.empty() ? "" : StrCat("exists, and ", why);
  }
  if (!absl::IsNotFound(role.status())) return role.status();
  ASSIGN_OR_RETURN(const bool in_namespace, IsBound<rbacv1::RoleBinding>(context, cache, name));
  ASSIGN_OR_RETURN(const bool in_cluster,
                   IsBound<rbacv1::ClusterRoleBinding>(context, cache, name));
  if (in_namespace || in_cluster) return "does not exist, but bindings refer to it";
  return "";
}

}  // namespace

absl::Status TemplateValidator::ValidateCreate(AdmissionCall& call, const ScopeTemplate& object) {
  return Check(call, nullptr, object);
}

absl::Status TemplateValidator::ValidateUpdate(AdmissionCall& call, const ScopeTemplate& old_object,
                                               const ScopeTemplate& object) {
  return Check(call, &old_object, object);
}

absl::Status TemplateValidator::Check(AdmissionCall& call, const ScopeTemplate* old,
                                      const ScopeTemplate& now) {
  absl::Status unread;
  RETURN_IF_ERROR(RefuseTemplate(old, now, options_.ns, [&](std::string_view name) {
    auto why = WhyTakenBy(call.context(), options_.cache, now.metadata().uid(), name);
    unread.Update(why.status());
    return why.ok() ? *std::move(why) : std::string();
  }));
  RETURN_IF_ERROR(unread);
  ASSIGN_OR_RETURN(const auto instances, options_.cache.ListBy<ScopeInstance>(
                                             call.context(), {kByTemplate, now.metadata().name()}));
  return CheckUser(options_, call, [&](const GrantOptions& grants) {
    return GrantsOfTemplate(old, now, instances, grants);
  });
}

absl::Status InstanceValidator::ValidateCreate(AdmissionCall& call, const ScopeInstance& object) {
  return Check(call, nullptr, object);
}

absl::Status InstanceValidator::ValidateUpdate(AdmissionCall& call, const ScopeInstance& old_object,
                                               const ScopeInstance& object) {
  return Check(call, &old_object, object);
}

absl::Status InstanceValidator::Check(AdmissionCall& call, const ScopeInstance* old,
                                      const ScopeInstance& now) {
  RETURN_IF_ERROR(RefuseInstance(old, now, options_.ns));
  std::optional<ScopeTemplate> scope_template;
  auto found =
      options_.cache.Get<ScopeTemplate>(call.context(), {"", now.spec().scopetemplatename()});
  if (found.ok()) {
    scope_template = *std::move(found);
  } else if (!absl::IsNotFound(found.status())) {
    return found.status();
  }
  return CheckUser(options_, call, [&](const GrantOptions& grants) {
    return GrantsOfInstance(old, now, scope_template, grants);
  });
}

absl::StatusOr<Webhooks> MakeScopeWebhooks(const Component& component) {
  CacheView& cache = component.cache();
  RETURN_IF_ERROR(DeclareTemplateIndexes(cache));
  Webhooks webhooks;
  for (const KindInfo& kind :
       {KindOf<ScopeTemplate>::value, KindOf<ScopeInstance>::value,
        KindOf<rbacv1::ClusterRole>::value, KindOf<rbacv1::RoleBinding>::value,
        KindOf<rbacv1::ClusterRoleBinding>::value}) {
    webhooks.demands.push_back(cache.Demand({.kind = kind, .ns = "", .name = ""}, nullptr));
  }
  const ScopeWebhookOptions options{
      .cache = cache,
      .ns = std::string(component.ns),
      .ask = [&client = component.client](AdmissionCall& call,
                                          std::vector<AccessQuestion> questions) {
        return MayUserEach(call.context(), client, call.user(), std::move(questions), kAtOnce);
      }};
  webhooks.hooks.push_back(
      ValidatingWebhook<ScopeTemplate>(std::make_shared<TemplateValidator>(options)));
  webhooks.hooks.push_back(
      ValidatingWebhook<ScopeInstance>(std::make_shared<InstanceValidator>(options)));
  return webhooks;
}

}  // namespace mandate::scope
