// The webhooks of all files that a command reads.
#ifndef RBACGEN_CLI_READ_WEBHOOKS_H_
#define RBACGEN_CLI_READ_WEBHOOKS_H_

#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/emit/chart/chart_objects.h"
#include "rbacgen/emit/webhook/webhook.h"

namespace mandate::rbacgen {

// Reads every file that the flags name, and checks all webhooks together. kWarning: what
// controller-gen passes over is a warning. kExitUnknown, said on standard error, if a path is not
// there; else 0, with the mistakes in `diagnostics`.
int ReadWebhookSources(const SourceFlags& flags, Severity severity, Webhooks* webhooks,
                       Diagnostics* diagnostics);

// Reads them for a chart, where whatever is wrong is an error, and adds them to its files. Where
// components are named after paths, webhooks above which no marker names one are left out, and
// their number is said. 0, or the exit code, with the report said.
int AddWebhookSources(const SourceFlags& flags, const ChartOptions& options,
                      std::vector<ChartFile>* files);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_READ_WEBHOOKS_H_
