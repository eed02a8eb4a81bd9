// The component scope-instance: binds the ClusterRoles of ScopeTemplates where ScopeInstances say.
//
// +mandate:component:name=scope-instance
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances;scopetemplates,verbs=list;watch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances/status,verbs=patch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances/finalizers,verbs=update
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=list;watch
// +mandate:justify:reason="A ScopeInstance is bindings: they are what this component makes."
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,verbs=list;watch;create;patch;delete
// +mandate:rbac:justify="Which ClusterRoles are bound is known only when a ScopeTemplate names them; only roles that a ScopeTemplate owns are ever bound.",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind
// +mandate:fence:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,owner=operators.coreos.com/ScopeInstance,label=operators.coreos.io/scopeInstanceUID,roleRefs=ClusterRole/scope-template:*,labels=operators.coreos.io/scopeInstanceUID;operators.coreos.io/generateName,neverSubject=manager;anonymous,guard=operators.coreos.com/scopeinstances,id=bindings
#ifndef CONTROLLERS_SCOPE_INSTANCE_RECONCILER_H_
#define CONTROLLERS_SCOPE_INSTANCE_RECONCILER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/fix_limiter.h"
#include "controllers/portion.h"
#include "controllers/scope/binding_writer.h"
#include "controllers/scope/instance_plan.h"
#include "controllers/scope/mandates.h"
#include "controllers/scope/unread.h"
#include "controllers/slow_objects.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"
#include "manager/core/metrics.h"

namespace mandate {
class Discovery;
}

namespace mandate::scope {

struct InstanceOptions {
  InstancePlanOptions plan;
  // Of one reconcile. The rest is left for the next, after what waits in the queue: another
  // instance's revocation does not wait for a thousand grants.
  PortionLimits portion;
  // Instances that are reconciled at once.
  int max_concurrent_reconciles = 4;
  // Of these, the ones of whose writes one took half of portion.max_time, or longer: the others go
  // on meanwhile.
  int max_slow_reconciles = 2;
};

// Reads, plans, writes, reports. Thread-safe.
class InstanceReconciler : public Reconciler {
 public:
  // `component` outlives this.
  InstanceReconciler(const Component& component, Client<kScopeInstance> client,
                     InstanceOptions options = {});
  ~InstanceReconciler() override;

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  // The plan; with what others have under the names of bindings that it would make.
  absl::StatusOr<InstancePlan> Plan(const CallContext& context, InstanceSnapshot& snapshot) const;
  // The instance is gone: revokes what it granted.
  absl::StatusOr<Result> RevokeAll(const CallContext& context, const Request& request,
                                   SlowObjects::Turn& turn);
  // Which rules of the roles have no effect in namespaces. Asks the server which resources are
  // namespaced, for at most portion.max_time.
  Effect ReadEffect(const CallContext& context, const std::vector<RoleTemplate>& roles);
  absl::Status Report(const CallContext& context, const InstancePlan& plan,
                      const std::vector<std::string>& failures, bool unfinished,
                      operatorsv1alpha1::ScopeInstance& of);
  // Says that the bindings cannot be read, if that lasts: Scoped is not True then.
  void ReportUnread(const CallContext& context, const absl::Status& why,
                    operatorsv1alpha1::ScopeInstance& of);
  // It is not the object's turn: sends those revocations that are quick, `of` these versions, while
  // they `are_current`.
  Result Later(const CallContext& context, const InstancePlan& plan, std::string of,
               const std::function<bool()>& are_current, SlowObjects::Turn& turn);
  Result Later(SlowObjects::Turn& turn);
  BindingWriter WriterFor(const CallContext& context, Portion& portion);

  const Component& component_;
  Client<kScopeInstance> client_;
  const InstanceOptions options_;
  const std::unique_ptr<Discovery> discovery_;
  FixLimits fixes_;
  WriteRounds rounds_;
  SlowObjects slow_;
  UnavailableSince unavailable_;
  prometheus::Counter& over_bound_;  // mandate_scope_bindings_over_bound_total
  prometheus::Counter& portions_;    // mandate_scope_portions_total
  prometheus::Counter& put_off_;     // mandate_scope_slow_reconciles_put_off_total
};

// Its controller: ScopeInstances, the bindings they own, and all that decides what those should be.
absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceController(const Component& component);
absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceControllerWith(
    const Component& component, const InstanceOptions& options);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_INSTANCE_RECONCILER_H_
