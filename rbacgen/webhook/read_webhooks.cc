#include "rbacgen/webhook/read_webhooks.h"

#include <iostream>
#include <string>

#include "rbacgen/source_files.h"
#include "rbacgen/webhook/chart_webhooks.h"
#include "rbacgen/webhook/configurations.h"

namespace mandate::rbacgen {

int ReadWebhookSources(const SourceFlags& flags, Severity severity, Webhooks* webhooks,
                       Diagnostics* diagnostics) {
  const auto files = FindSourceFiles(flags.paths);
  if (!files.ok()) {
    std::cerr << "rbacgen: " << files.status().message() << "\n";
    return kExitMisuse;
  }
  for (const std::string& file : *files) {
    const auto text = ReadWholeFile(file);
    if (!text.ok()) {
      diagnostics->Error({file}, std::string(text.status().message()));
      continue;
    }
    // A path that makes no component's name is reported where its rules are read.
    const auto component = ComponentOfFile(file, flags.component_from);
    ReadWebhooks(file, *text, severity, component.value_or(""), webhooks, diagnostics);
  }
  CheckWebhooks(*webhooks, severity, diagnostics);
  return 0;
}

int AddWebhookSources(const SourceFlags& flags, const ChartOptions& options,
                      std::vector<ChartFile>* files) {
  Webhooks webhooks;
  Diagnostics diagnostics;
  if (const int misuse = ReadWebhookSources(flags, Severity::kError, &webhooks, &diagnostics)) {
    return misuse;
  }
  AddWebhooks(webhooks, options, files, &diagnostics);
  return Conclude(diagnostics);
}

}  // namespace mandate::rbacgen
