// The webhook configurations of a chart's components.
#pragma once

#include <vector>

#include "rbacgen/emit/chart/chart_objects.h"
#include "rbacgen/emit/webhook/webhook.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Reports each component that has webhooks, but no value in its marker: the chart would install
// their configurations also while no manager serves them. Webhooks that the API server calls by a
// URL are not checked, because another program serves them.
void CheckValuesOfWebhooks(const Webhooks& webhooks, const Sources& sources,
                           Diagnostics* diagnostics);

// Adds to each component's file the configurations of its webhooks, so that the chart enables them
// together with the component: BASE-COMPONENT-mutating and BASE-COMPONENT-validating. They call the
// service BASE-webhook in the manager's namespace, unless the markers name another service. The
// issuer of the certificate must fill in caBundle. Errors are webhooks that belong to none of the
// files, and markers that name a configuration: in a chart, configurations are named after their
// components.
void AddWebhooks(const Webhooks& webhooks, const ChartOptions& options,
                 std::vector<ChartFile>* files, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
