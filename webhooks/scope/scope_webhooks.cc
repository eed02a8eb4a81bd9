#include "webhooks/scope/scope_webhooks.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/kinds.h"
#include "manager/admission/typed.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"
#include "webhooks/scope/grants.h"
#include "webhooks/scope/refusals.h"
#include "webhooks/scope/verdict.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// Access reviews of one call that are under way at once.
constexpr size_t kAtOnce = 16;

// `grants` is GrantsOfTemplate() or GrantsOfInstance() of the write.
absl::Status CheckAuthor(
    const Component& component, AdmissionCall& call,
    absl::FunctionRef<absl::StatusOr<std::vector<Requirement>>(const GrantOptions&)> grants) {
  GrantOptions options;
  if (const auto all = grants(options); all.ok() && all->empty()) return absl::OkStatus();
  const auto ask = [&](std::vector<AccessQuestion> questions) {
    return MayUserEach(call.context(), component.client, call.user(), std::move(questions),
                       kAtOnce);
  };
  // Administrators need two reviews, whatever the size of the object.
  ASSIGN_OR_RETURN(const auto may, ask({EscalateAll(), BindAll()}));
  options.may_escalate = may[0].allowed();
  options.may_bind = may[1].allowed();
  ASSIGN_OR_RETURN(const auto requirements, grants(options));
  return CheckRequirements(call.user().username(), requirements, ask);
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

// `old` is null for a new template.
absl::Status CheckTemplate(const Component& component, AdmissionCall& call,
                           const ScopeTemplate* old, const ScopeTemplate& now) {
  const CacheView& cache = component.cache();
  absl::Status unread;
  RETURN_IF_ERROR(RefuseTemplate(old, now, component.ns, [&](std::string_view name) {
    auto why = WhyTakenBy(call.context(), cache, now.metadata().uid(), name);
    unread.Update(why.status());
    return why.ok() ? *std::move(why) : std::string();
  }));
  RETURN_IF_ERROR(unread);
  ASSIGN_OR_RETURN(const auto instances, cache.ListBy<ScopeInstance>(
                                             call.context(), {kByTemplate, now.metadata().name()}));
  return CheckAuthor(component, call, [&](const GrantOptions& options) {
    return GrantsOfTemplate(old, now, instances, options);
  });
}

// `old` is null for a new instance.
absl::Status CheckInstance(const Component& component, AdmissionCall& call,
                           const ScopeInstance* old, const ScopeInstance& now) {
  RETURN_IF_ERROR(RefuseInstance(old, now, component.ns));
  std::optional<ScopeTemplate> scope_template;
  auto found =
      component.cache().Get<ScopeTemplate>(call.context(), {"", now.spec().scopetemplatename()});
  if (found.ok()) {
    scope_template = *std::move(found);
  } else if (!absl::IsNotFound(found.status())) {
    return found.status();
  }
  return CheckAuthor(component, call, [&](const GrantOptions& options) {
    return GrantsOfInstance(old, now, scope_template, options);
  });
}

// Creations and updates by `kCheck`, which gets a null `old` for a creation. Thread-safe.
template <Object T, auto kCheck>
class WriteValidator : public Validator<T> {
 public:
  explicit WriteValidator(const Component& component) : component_(component) {}
  absl::Status ValidateCreate(AdmissionCall& call, const T& object) override {
    return kCheck(component_, call, nullptr, object);
  }
  absl::Status ValidateUpdate(AdmissionCall& call, const T& old_object, const T& object) override {
    return kCheck(component_, call, &old_object, object);
  }

 private:
  const Component& component_;
};

}  // namespace

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
  webhooks.hooks.push_back(ValidatingWebhook<ScopeTemplate>(
      std::make_shared<WriteValidator<ScopeTemplate, CheckTemplate>>(component)));
  webhooks.hooks.push_back(ValidatingWebhook<ScopeInstance>(
      std::make_shared<WriteValidator<ScopeInstance, CheckInstance>>(component)));
  return webhooks;
}

}  // namespace mandate::scope
