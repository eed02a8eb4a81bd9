// Reads the webhooks of all files that a command names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/emit/chart/chart_objects.h"
#include "rbacgen/emit/webhook/webhook.h"

namespace mandate::rbacgen {

// Reads every file that the flags name, and checks all webhooks together. With kWarning, a marker
// that controller-gen skips is a warning. kExitUnknown, after a message on standard error, if a
// path does not exist; else 0, with the mistakes in `diagnostics`.
int ReadWebhookSources(const SourceFlags& flags, Severity severity, Webhooks* webhooks,
                       Diagnostics* diagnostics);

// Adds the webhooks to the components that serve them. A webhook without a component, or one that
// the API server does not call by a path, is skipped.
void NoteWebhooks(const Webhooks& webhooks, std::vector<ComponentMandate>* components);

// The value of a chart, and of the flag --with, that enables the webhooks.
inline constexpr char kWebhooksValue[] = "webhooks.enabled";

// Whether a manager serves the webhooks of the component.
using IsServed = std::function<bool(const std::string& component)>;

// Reads the webhooks of the sources for a chart, where every mistake is an error, and adds those
// that are served to the chart's files. If components are named after paths, webhooks without a
// component marker are skipped. The numbers of skipped webhooks and of those that are not served
// are reported. 0, or the exit code, after the report.
int AddWebhookSources(const SourceFlags& flags, const Sources& sources, const ChartOptions& options,
                      const IsServed& is_served, std::vector<ChartFile>* files);

}  // namespace mandate::rbacgen
