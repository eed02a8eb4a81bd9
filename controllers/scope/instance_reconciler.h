// The component scope-instance: binds the ClusterRoles of ScopeTemplates for ScopeInstances.
//
// +mandate:component:name=scope-instance
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances;scopetemplates,verbs=list;watch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances/status,verbs=patch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances/finalizers,verbs=update
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=list;watch
// +mandate:justify:reason="The task of this component is to create the bindings of ScopeInstances."
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,verbs=list;watch;create;patch;delete
// +mandate:rbac:justify="Which ClusterRoles are bound is known only when a ScopeTemplate names them; only roles that a ScopeTemplate owns are ever bound.",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind
// +mandate:fence:groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,owner=operators.coreos.com/ScopeInstance,label=operators.coreos.io/scopeInstanceUID,roleRefs=ClusterRole/scope-template:*,labels=operators.coreos.io/scopeInstanceUID;operators.coreos.io/generateName,neverSubject=manager;anonymous,guard=operators.coreos.com/scopeinstances,id=bindings
#pragma once

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
  // The limits of one reconcile. The next reconcile, after the others in the queue, does the rest,
  // so that another instance's revocation does not wait for a thousand grants.
  PortionLimits portion;
  // The number of instances that are reconciled at the same time.
  int max_concurrent_reconciles = 4;
  // The maximum number of these whose last writes were slow (half of portion.max_time or more), so
  // that the other workers stay free for quick ones.
  int max_slow_reconciles = 2;
};

// A reconciler that reads, plans, writes and reports. Thread-safe.
class InstanceReconciler : public Reconciler {
 public:
  // `component` outlives this.
  InstanceReconciler(const Component& component, Client<kScopeInstance> client,
                     InstanceOptions options = {});
  ~InstanceReconciler() override;

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  // The plan, including the bindings of others with the names that it needs. It has no bindings in
  // namespaces that the manager does not watch: these are `failures`.
  absl::StatusOr<InstancePlan> Plan(const CallContext& context, InstanceSnapshot& snapshot,
                                    std::vector<std::string>& failures) const;
  // Revokes the bindings of a deleted instance.
  absl::StatusOr<Result> RevokeAll(const CallContext& context, const Request& request,
                                   SlowObjects::Turn& turn);
  // The rules of the roles that have no effect in namespaces. Asks the server which resources are
  // namespaced, for at most portion.max_time.
  Effect ReadEffect(const CallContext& context, const std::vector<RoleTemplate>& roles);
  absl::Status Report(const CallContext& context, const InstancePlan& plan,
                      const std::vector<std::string>& failures, bool unfinished,
                      operatorsv1alpha1::ScopeInstance& of);
  // Called if the object has to wait for its turn: sends its quick revocations, `of` these
  // versions, while they `are_current`.
  Result Later(const CallContext& context, const InstancePlan& plan, std::string of,
               const std::function<bool()>& are_current, SlowObjects::Turn& turn);
  Result Later(SlowObjects::Turn& turn);
  BindingWriter WriterFor(const CallContext& context, Portion& portion);

  const Component& component_;
  Client<kScopeInstance> client_;
  const InstanceOptions options_;
  const std::unique_ptr<Discovery> discovery_;
  FixLimiters fixes_;
  WriteRounds rounds_;
  SlowObjects slow_;
  UnavailableSince unavailable_;
  prometheus::Counter& limit_exceeded_;  // mandate_scope_binding_limit_exceeded_total
  prometheus::Counter& portions_;        // mandate_scope_portions_total
  prometheus::Counter& deferred_;        // mandate_scope_slow_reconciles_deferred_total
};

// The controller of ScopeInstances. It also watches their bindings, and the objects that determine
// the desired bindings.
absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceController(const Component& component);
absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceControllerWith(
    const Component& component, const InstanceOptions& options);

}  // namespace mandate::scope
