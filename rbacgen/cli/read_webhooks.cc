#include "rbacgen/cli/read_webhooks.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "rbacgen/emit/webhook/certificate_names.h"
#include "rbacgen/emit/webhook/chart_webhooks.h"
#include "rbacgen/emit/webhook/configurations.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {

int ReadWebhookSources(const SourceFlags& flags, Severity severity, Webhooks* webhooks,
                       Diagnostics* diagnostics) {
  const auto files = FindSourceFiles(flags.paths);
  if (!files.ok()) {
    PrintMessage(AsStd(files.status().message()));
    return kExitUnknown;
  }
  for (const std::string& file : *files) {
    const auto text = ReadWholeFile(file);
    if (!text.ok()) {
      diagnostics->Unreadable({file}, std::string(text.status().message()));
      continue;
    }
    ReadWebhooks(file, *text, severity, webhooks, diagnostics);
  }
  CheckWebhooks(*webhooks, severity, diagnostics);
  return 0;
}

void NoteWebhooks(const Webhooks& webhooks, std::vector<ComponentMandate>* components) {
  for (const Webhook& webhook : webhooks.webhooks) {
    const Json::Value& path = webhook.object["clientConfig"]["service"]["path"];
    const auto component =
        std::ranges::find(*components, webhook.component, &ComponentMandate::name);
    if (component == components->end() || !path.isString()) continue;
    component->webhooks.push_back({path.asString(), webhook.mutating, webhook.name()});
  }
}

int AddWebhookSources(const SourceFlags& flags, const Sources& sources, const ChartOptions& options,
                      const IsServed& is_served, std::vector<ChartFile>* files) {
  Webhooks webhooks;
  Diagnostics diagnostics;
  if (const int misuse = ReadWebhookSources(flags, Severity::kError, &webhooks, &diagnostics)) {
    return misuse;
  }
  // A project that names components after paths already has its own webhook configuration.
  const size_t left =
      flags.component_from == ComponentFrom::kMarker
          ? 0
          : std::erase_if(webhooks.webhooks, [](const Webhook& w) { return w.component.empty(); });
  if (left > 0) {
    std::cerr
        << "rbacgen: " << left << (left == 1 ? " webhook is" : " webhooks are")
        << " skipped, without a +mandate:component marker above; `rbacgen webhook` prints them\n";
    if (webhooks.webhooks.empty()) return 0;
  }
  CheckValuesOfWebhooks(webhooks, sources, &diagnostics);
  CheckCertificateNames(webhooks, sources, options.names.base, &diagnostics);
  // The mistakes of all webhooks.
  std::vector<ChartFile> all = *files;
  AddWebhooks(webhooks, options, &all, &diagnostics);
  if (const int errors = Conclude(diagnostics)) return errors;
  const size_t omitted = std::erase_if(
      webhooks.webhooks, [&](const Webhook& webhook) { return !is_served(webhook.component); });
  if (omitted > 0) {
    std::cerr << "rbacgen: " << omitted << (omitted == 1 ? " webhook is" : " webhooks are")
              << " omitted, because without a manager that serves them the API server would deny "
                 "writes; add --with="
              << kWebhooksValue << " when the manager serves them and their Service exists\n";
  }
  AddWebhooks(webhooks, options, files, &diagnostics);
  return 0;
}

}  // namespace mandate::rbacgen
