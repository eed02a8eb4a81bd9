// The component scope-template: keeps the ClusterRoles of referenced ScopeTemplates.
//
// +mandate:component:name=scope-template
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopetemplates;scopeinstances,verbs=list;watch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopetemplates/status,verbs=patch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopetemplates/finalizers,verbs=update
// +mandate:justify:reason="A ScopeTemplate is roles: they are what this component makes."
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,verbs=list;watch
// +mandate:rbac:justify="A ScopeTemplate's roles hold whatever rules its author asks for; who may create ScopeTemplates decides what may be granted.",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=escalate
// +mandate:fence:groups=rbac.authorization.k8s.io,resources=clusterroles,owner=operators.coreos.com/ScopeTemplate,label=operators.coreos.io/scopeTemplateUID,names=scope-template:*,labels=operators.coreos.io/scopeTemplateUID;operators.coreos.io/generateName,guard=operators.coreos.com/scopetemplates
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "controllers/fix_limiter.h"
#include "controllers/portion.h"
#include "controllers/scope/awaited_bindings.h"
#include "controllers/scope/mandates.h"
#include "controllers/scope/role_writer.h"
#include "controllers/scope/template_plan.h"
#include "controllers/scope/unread.h"
#include "controllers/slow_objects.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"
#include "manager/core/metrics.h"

namespace mandate::scope {

struct TemplateOptions {
  // The limits of one reconcile. The next reconcile, after the others in the queue, does the rest,
  // so that another template's revocation does not wait for a hundred roles.
  PortionLimits portion;
  // The number of templates that are reconciled at the same time.
  int max_concurrent_reconciles = 4;
  // The maximum number of these whose last writes were slow (half of portion.max_time or more), so
  // that the other workers stay free for quick ones.
  int max_slow_reconciles = 2;
};

// A reconciler that reads, plans, writes and reports. Thread-safe.
class TemplateReconciler : public Reconciler {
 public:
  // `component` outlives this.
  TemplateReconciler(const Component& component, Client<kScopeTemplate> client,
                     std::shared_ptr<AwaitedBindings> awaited, TemplateOptions options = {});

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  // Reports in Templated that the roles cannot be read, if this lasts.
  void ReportUnread(const CallContext& context, const absl::Status& why,
                    operatorsv1alpha1::ScopeTemplate& of);
  // Called if the object has to wait for its turn.
  Result Later(SlowObjects::Turn& turn);
  RoleWriter WriterFor(const CallContext& context, Portion& portion);

  const Component& component_;
  Client<kScopeTemplate> client_;
  const std::shared_ptr<AwaitedBindings> awaited_;
  const TemplateOptions options_;
  WriteRounds rounds_;
  SlowObjects slow_;
  FixLimiters fixes_;
  UnavailableSince unavailable_;
  prometheus::Counter& portions_;  // mandate_scope_portions_total
  prometheus::Counter& deferred_;  // mandate_scope_slow_reconciles_deferred_total
};

// The controller of ScopeTemplates. It also watches their ClusterRoles, the ScopeInstances that
// name them, and the bindings that keep a role from being created or widened.
absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateController(const Component& component);
absl::StatusOr<std::unique_ptr<Controller>> MakeTemplateControllerWith(
    const Component& component, const TemplateOptions& options);

}  // namespace mandate::scope
