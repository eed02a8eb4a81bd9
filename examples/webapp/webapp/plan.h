// What a WebApp owns: pure functions of its spec.
#pragma once

#include <string>

#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "webapp/kind.h"

namespace webapp {

inline constexpr char kAvailable[] = "Available";
inline constexpr char kSynced[] = "Synced";
// Where WebApps of all namespaces have a record, which garbage collection does not delete.
inline constexpr char kRecords[] = "webapp-records";

std::string SelectorOf(const v1alpha1::WebApp& app);

mandate::corev1::ConfigMap MakeConfigMap(const v1alpha1::WebApp& app);
// `inputs` changes when a setting or a Secret does: then the Pods restart.
mandate::appsv1::Deployment MakeDeployment(const v1alpha1::WebApp& app, const std::string& inputs);
mandate::corev1::Service MakeService(const v1alpha1::WebApp& app);
// In the namespace kRecords.
mandate::corev1::ConfigMap MakeRecord(const v1alpha1::WebApp& app);

// Makes the status, without its conditions. `deployment` is null if the WebApp has none yet.
v1alpha1::WebAppStatus MakeStatus(const v1alpha1::WebApp& app,
                                  const mandate::appsv1::Deployment* deployment);

}  // namespace webapp
