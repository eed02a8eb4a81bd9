// rbacgen webhook: prints the webhook configurations that controller-gen prints for the same
// markers.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/cli/read_webhooks.h"
#include "rbacgen/emit/webhook/configurations.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  std::string out;
  std::string service_name;
  std::string service_namespace;
  SourceFlags sources;
};

int Run(const Flags& flags) {
  Webhooks webhooks;
  Diagnostics diagnostics;
  if (const int misuse =
          ReadWebhookSources(flags.sources, Severity::kWarning, &webhooks, &diagnostics)) {
    return misuse;
  }
  if (const int errors = Conclude(diagnostics)) return errors;
  if (webhooks.webhooks.empty()) {
    std::cerr << "rbacgen: the named paths have no +kubebuilder:webhook marker; nothing to print\n";
    return 0;
  }
  std::vector<Place> places;
  for (const Webhook& webhook : webhooks.webhooks) places.push_back(webhook.place);
  SayWhatIsBelow(flags.sources.paths, places);
  ConfigurationOptions options;
  if (!flags.service_name.empty()) options.service_name = flags.service_name;
  if (!flags.service_namespace.empty()) options.service_namespace = flags.service_namespace;
  return EmitFrom(flags.sources, flags.out,
                  WriteDocuments(WebhookConfigurations(webhooks, options), Yaml::Flavor::kPlain));
}

}  // namespace

void AddWebhookCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("webhook",
                         "Print the webhook configurations that controller-gen prints for the same "
                         "+kubebuilder:webhook markers");
  command->add_option("--out", flags->out, "Write to this file instead of standard output");
  command->add_option(
      "--service-name", flags->service_name,
      "The service of webhooks, for markers without serviceName (default: webhook-service)");
  command->add_option(
      "--service-namespace", flags->service_namespace,
      "The namespace of the service, for markers without serviceNamespace (default: system)");
  AddSourceFlags(command, &flags->sources);
  command->footer(
      "Reads any language with // comments. A marker that the API server would reject is an\n"
      "error, with file and line.\n\n"
      "Example: rbacgen webhook --service-name=mine --service-namespace=mine-system ./...");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
