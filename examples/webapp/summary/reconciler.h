// The component webapp-summary: counts the WebApps of the cluster in one ConfigMap.
//
// +mandate:component:name=webapp-summary,events=none
// +kubebuilder:rbac:groups=apps.example.com,resources=webapps,verbs=list;watch
// +mandate:rbac:groups=core,resources=configmaps,namespace=webapp-records,resourceNames=summary,verbs=list;watch,fieldSelector=metadata.name
// +kubebuilder:rbac:groups=core,resources=configmaps,namespace=webapp-records,resourceNames=summary,verbs=create;patch
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "summary/mandates.h"

namespace webapp {

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeSummaryController(
    const mandate::Component& component);

}  // namespace webapp
