// The component bar: the example operator of "Informers Based on RBAC". Each Bar names the Secrets
// that it needs: those of a namespace, one of them, or those of the cluster.
//
// An administrator grants all its rights, those to Secrets in exactly the scopes that the Bars
// name.
//
// +mandate:component:name=bar,events=none
// +mandate:rbac:granted=external,groups=operators.io.operator-framework,resources=bars,verbs=list;watch
// +mandate:rbac:granted=external,groups=operators.io.operator-framework,resources=bars/status,verbs=patch
// +mandate:justify:reason="A Bar names the Secrets that it needs; a demo counts them."
// +mandate:rbac:granted=external,groups=core,resources=secrets,verbs=list;watch
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/memcached/bar/kind.h"
#include "controllers/memcached/bar/mandates.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/demand_set.h"
#include "manager/controller/reconciler.h"

namespace mandate::bar {

// The Secrets that the Bar demands, in the order of the fields of its spec.
std::vector<SelectedDemand> DemandsOf(const v1::Bar& bar);

// A reconciler of Bars: demands their Secrets, and reports how many there are. A Bar has no
// finalizer: the controller releases the demands of a Bar that is gone. Thread-safe.
class BarReconciler : public Reconciler {
 public:
  // `component` outlives this.
  BarReconciler(const Component& component, Client<kBar> client,
                std::shared_ptr<DemandSet> demands);

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  absl::StatusOr<v1::BarRead> Read(const CallContext& context, const DemandSpec& spec) const;

  const Component& component_;
  Client<kBar> client_;
  const std::shared_ptr<DemandSet> demands_;
};

// The controller of Bars.
absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component);

}  // namespace mandate::bar
