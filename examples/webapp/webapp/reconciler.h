// The component webapp: runs WebApps.
//
// +mandate:component:name=webapp
// +kubebuilder:rbac:groups=apps.example.com,resources=webapps,verbs=list;watch;patch
// +kubebuilder:rbac:groups=apps.example.com,resources=webapps/status,verbs=patch
// +kubebuilder:rbac:groups=apps.example.com,resources=webapps/finalizers,verbs=update
// +mandate:justify:reason="A WebApp is a Deployment: who may create WebApps may run Pods."
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=core,resources=services,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=core,resources=configmaps,namespace=webapp-records,verbs=delete
//
// An administrator grants this where the owner of a namespace agrees:
// +mandate:justify:reason="A change of a Secret restarts the Pods that use it."
// +mandate:rbac:granted=external,groups=core,resources=secrets,verbs=list;watch
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/demand_set.h"
#include "webapp/mandates.h"
#include "webapp/plan.h"

namespace webapp {

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeController(
    const mandate::Component& component);

}  // namespace webapp
