// The files of a Helm chart, and the same objects as plain manifests.
#ifndef RBACGEN_EMIT_CHART_HELM_CHART_H_
#define RBACGEN_EMIT_CHART_HELM_CHART_H_

#include <string>
#include <vector>

#include "rbacgen/emit/chart/chart_objects.h"
#include "rbacgen/emit/output.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// The folder of a chart whose files are all generated, with a final slash.
inline constexpr char kGeneratedTemplates[] = "templates/generated/";

// The files in kGeneratedTemplates, as paths in the chart.
std::vector<OutputFile> GeneratedTemplates(const std::vector<ChartFile>& files,
                                           const std::vector<ComponentMandate>& components,
                                           const ChartNames& names);

// The other files of a new chart, which the user edits afterwards.
std::vector<OutputFile> NewChartFiles(const ChartNames& names);

// All objects as one text for `kubectl apply`. Helm rejects a second release, but `kubectl apply`
// does not, so the heading warns of it.
std::string PlainManifest(const std::vector<ChartFile>& files, const ChartOptions& options);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_HELM_CHART_H_
