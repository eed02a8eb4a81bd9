// rbacgen header: writes the mandates of components as a C++ header.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/read_webhooks.h"
#include "rbacgen/emit/header_writer.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  std::string out;
  std::string base = "none";
  std::string base_name = "mandate-manager";
  std::string ns;
  SourceFlags sources;
};

int Run(const Flags& flags) {
  Sources sources;
  Diagnostics diagnostics;
  if (const int exit_code = ReadMandateSources(flags.sources, &sources, &diagnostics)) {
    return exit_code;
  }
  std::vector<ComponentMandate> mandates = BuildMandates(sources);
  Webhooks webhooks;
  Diagnostics found;
  if (const int misuse = ReadWebhookSources(flags.sources, Severity::kError, &webhooks, &found)) {
    return misuse;
  }
  if (const int errors = Conclude(found)) return errors;
  NoteWebhooks(webhooks, &mandates);
  if (flags.base != "none") {
    ComponentMandate base = BuildBaseMandate(mandates, flags.base_name, flags.ns);
    if (flags.base == "only") mandates.clear();
    mandates.insert(mandates.begin(), std::move(base));
  }
  const auto header = WriteHeader(mandates);
  if (!header.ok()) {
    PrintMessage(AsStd(header.status().message()));
    return kExitFound;
  }
  return EmitFrom(flags.sources, flags.out, *header);
}

}  // namespace

void AddHeaderCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("header", "Write the mandates of components as a C++ header of constants");
  command->add_option("--out", flags->out, "The header to write")->required();
  command
      ->add_option(
          "--base", flags->base,
          "Whether to define kBase, the mandate of the manager's own identity: none (no), with "
          "(together with the components), only (without the components)")
      ->check(CLI::IsMember({"none", "with", "only"}))
      ->capture_default_str();
  command
      ->add_option("--base-name", flags->base_name,
                   "The manager's name, the prefix of its ServiceAccounts")
      ->check(IsBaseName())
      ->capture_default_str();
  command
      ->add_option("--namespace", flags->ns,
                   "The manager's namespace in kBase; empty if it is known only at run time")
      ->check(IsNamespace());
  AddMandateSourceFlags(command, &flags->sources);
  command->footer(
      "Each component becomes a constant: scope-instance is mandate::kScopeInstance. Rules come\n"
      "from +kubebuilder:rbac and +mandate:rbac markers below a +mandate:component:name=… line.\n"
      "In a BUILD file: mandate_header() of //third_party/bazel:mandate.bzl.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
