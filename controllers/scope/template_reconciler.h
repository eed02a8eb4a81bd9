// The component scope-template: keeps the ClusterRoles of referenced ScopeTemplates.
//
// +mandate:component:name=scope-template
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopetemplates;scopeinstances,verbs=list;watch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopetemplates/status,verbs=patch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopetemplates/finalizers,verbs=update
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,verbs=list;watch
// +mandate:rbac:justify="A ScopeTemplate's roles hold whatever rules its author asks for; who may create ScopeTemplates decides what may be granted.",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=escalate
// +mandate:fence:groups=rbac.authorization.k8s.io,resources=clusterroles,owner=operators.coreos.com/ScopeTemplate,label=operators.coreos.io/scopeTemplateUID,names=!cluster-admin;!admin;!edit;!view;!system:*;!mandate-manager*,neverLabels=rbac.authorization.k8s.io/aggregate-to-*
#ifndef CONTROLLERS_SCOPE_TEMPLATE_RECONCILER_H_
#define CONTROLLERS_SCOPE_TEMPLATE_RECONCILER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controllers/fix_limiter.h"
#include "controllers/retry_delays.h"
#include "controllers/scope/mandates.h"
#include "controllers/scope/template_plan.h"
#include "controllers/write_log.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"

namespace mandate::scope {

// Reads, plans, writes, reports. Thread-safe.
class TemplateReconciler : public Reconciler {
 public:
  // `component` outlives this.
  TemplateReconciler(const Component& component, Client<kScopeTemplate> client);

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  // The writes of one reconcile, and their outcome.
  struct Progress {
    WriteLog log;
    // How long to wait before a role that somebody else keeps changing is fixed again. Zero: there
    // is no such role.
    absl::Duration wait = absl::ZeroDuration();
  };

  void CarryOut(const CallContext& context, const TemplatePlan& plan, Progress& progress);
  void Fix(const CallContext& context, const RoleFix& fix, Progress& progress);

  const Component& component_;
  Client<kScopeTemplate> client_;
  RetryDelays denied_;
  FixLimiter fixes_;
};

// Its controller: ScopeTemplates, the ClusterRoles they own, the ScopeInstances that name them, and
// the bindings that keep a role from being made again.
absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateController(const Component& component);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TEMPLATE_RECONCILER_H_
