// The component scope-instance: binds the ClusterRoles of ScopeTemplates where ScopeInstances say.
//
// +mandate:component:name=scope-instance
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances;scopetemplates,verbs=list;watch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances/status,verbs=patch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances/finalizers,verbs=update
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=list;watch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,verbs=list;watch;create;patch;delete
// +mandate:rbac:justify="Which ClusterRoles are bound is known only when a ScopeTemplate names them; only roles that a ScopeTemplate owns are ever bound.",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind
// +mandate:fence:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,owner=operators.coreos.com/ScopeInstance,label=operators.coreos.io/scopeInstanceUID,roleRefs=ClusterRole/*;!cluster-admin;!admin;!edit;!view;!system:*;!mandate-manager*,neverSubject=self,id=bindings
#ifndef CONTROLLERS_SCOPE_INSTANCE_RECONCILER_H_
#define CONTROLLERS_SCOPE_INSTANCE_RECONCILER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "controllers/scope/instance_plan.h"
#include "controllers/scope/mandates.h"
#include "controllers/write_log.h"
#include "manager/client/client.h"
#include "manager/client/discovery.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"

namespace mandate::scope {

// Reads, plans, writes, reports. Thread-safe.
class InstanceReconciler : public Reconciler {
 public:
  // `component` outlives this.
  InstanceReconciler(const Component& component, Client<kScopeInstance> client);

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  absl::StatusOr<InstanceSnapshot> Read(const CallContext& context,
                                        operatorsv1alpha1::ScopeInstance instance);
  // Those that belong to the instance of this name and UID, or to a former one of the name.
  absl::StatusOr<std::vector<Binding>> ReadBindings(const CallContext& context,
                                                    std::string_view name,
                                                    std::string_view uid) const;
  // The instance is gone: takes what it granted along.
  absl::StatusOr<Result> RevokeAll(const CallContext& context, std::string_view name);
  void CarryOut(const CallContext& context, const InstancePlan& plan, WriteLog& log);
  void Create(const CallContext& context, const Binding& binding, WriteLog& log);
  void Mend(const CallContext& context, const Binding& binding, WriteLog& log);
  // Whether it is gone.
  bool Remove(const CallContext& context, const Binding& binding, WriteLog& log);

  const Component& component_;
  Client<kScopeInstance> client_;
  Discovery discovery_;
};

// Its controller: ScopeInstances, the bindings they own, and all that decides what those should be.
absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceController(const Component& component);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_INSTANCE_RECONCILER_H_
