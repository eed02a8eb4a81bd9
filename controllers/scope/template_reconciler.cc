#include "controllers/scope/template_reconciler.h"

#include <algorithm>
#include <utility>

#include "controllers/report.h"
#include "controllers/scope/generated_names.h"
#include "manager/controller/builder_for.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// How soon a write that was forbidden is tried again.
constexpr absl::Duration kForbiddenRetry = absl::Seconds(10);

bool IsReferenced(const std::vector<ScopeInstance>& instances, std::string_view template_name) {
  return std::any_of(instances.begin(), instances.end(), [&](const ScopeInstance& instance) {
    return instance.spec().scopetemplatename() == template_name &&
           !instance.metadata().has_deletiontimestamp();
  });
}

}  // namespace

TemplateReconciler::TemplateReconciler(const Component& component, Client<kScopeTemplate> client)
    : component_(component), client_(std::move(client)) {}

absl::StatusOr<TemplateSnapshot> TemplateReconciler::Read(const CallContext& context,
                                                          ScopeTemplate scope_template) const {
  TemplateSnapshot snapshot;
  ASSIGN_OR_RETURN(const auto instances, component_.cache().List<ScopeInstance>(context));
  snapshot.referenced = IsReferenced(instances, scope_template.metadata().name());
  // Those of the template carry its UID somewhere; decoding the cluster's other roles is no use.
  ASSIGN_OR_RETURN(const auto raw,
                   component_.cache().ListRaw(context, KindOf<rbacv1::ClusterRole>::value, ""));
  const std::string& uid = scope_template.metadata().uid();
  for (const auto& role : raw) {
    const auto& roles = scope_template.spec().clusterroles();
    const bool named = std::any_of(roles.begin(), roles.end(), [&](const auto& r) {
      return ClusterRoleName(uid, r.generatename()) == role->name();
    });
    if (!named && role->bytes().find(uid) == std::string_view::npos) continue;
    ASSIGN_OR_RETURN(rbacv1::ClusterRole decoded, role->Decode<rbacv1::ClusterRole>());
    snapshot.cluster_roles.push_back(std::move(decoded));
  }
  snapshot.scope_template = std::move(scope_template);
  return snapshot;
}

absl::StatusOr<Result> TemplateReconciler::Reconcile(const CallContext& context,
                                                     const Request& request) {
  auto scope_template = component_.cache().Get<ScopeTemplate>(context, request.key);
  if (absl::IsNotFound(scope_template.status())) return Result{};
  RETURN_IF_ERROR(scope_template.status());
  // What it owns goes with it, by garbage collection.
  if (scope_template->metadata().has_deletiontimestamp()) return Result{};
  ASSIGN_OR_RETURN(const TemplateSnapshot snapshot, Read(context, *std::move(scope_template)));

  const TemplatePlan plan = PlanTemplate(snapshot);
  WriteLog log;
  for (const Removal& r : plan.remove) {
    log.AddRemoval(StrCat("ClusterRole ", r.key.name),
                   client_.Delete<rbacv1::ClusterRole>(context, r.key, {.uid = r.uid}));
  }
  for (const auto& role : plan.create) {
    log.Add(StrCat("ClusterRole ", role.metadata().name()), client_.Create(context, role));
  }
  for (const auto& role : plan.mend) {
    log.Add(StrCat("ClusterRole ", role.metadata().name()), client_.Apply(context, role));
  }
  RETURN_IF_ERROR(ReportConditions(
      context, component_, client_, snapshot.scope_template,
      TemplateConditions(snapshot.scope_template, plan, log.failures()), kTemplated, log));
  return log.ToResult(kForbiddenRetry);
}

absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateController(const Component& component) {
  ASSIGN_OR_RETURN(auto client, Client<kScopeTemplate>::Create(component.client));
  return BuilderFor<kScopeTemplate>(component.runtime)
      .Named("scope-template")
      .For<ScopeTemplate>()
      .Owns<rbacv1::ClusterRole>()
      .Watches<ScopeInstance>([](const ScopeInstance& instance) {
        return std::vector<Request>{{{"", instance.spec().scopetemplatename()}}};
      })
      .Complete(std::make_unique<TemplateReconciler>(component, std::move(client)));
}

}  // namespace mandate::scope
