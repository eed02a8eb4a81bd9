// rbacgen audit-policy: prints the audit policy that `rbacgen trace` needs.
#include <memory>
#include <string>

#include "rbacgen/cli/command.h"
#include "rbacgen/emit/chart/audit_policy.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  std::string out;
  std::string ns = "mandate-system";
  std::string base_name = "mandate-manager";
  bool bodies = false;
  SourceFlags sources;
};

int Run(const Flags& flags) {
  Sources sources;
  Diagnostics diagnostics;
  if (const int exit_code = ReadMandateSources(flags.sources, &sources, &diagnostics)) {
    return exit_code;
  }
  ChartSettings settings;
  settings.ns = flags.ns;
  return EmitFrom(flags.sources, flags.out,
                  AuditPolicyText(BuildMandates(sources), flags.base_name,
                                  ChartSwitches(std::move(settings)), flags.bodies));
}

}  // namespace

void AddAuditPolicyCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("audit-policy", "Print the audit policy that `rbacgen trace` needs");
  command->add_option("--out", flags->out, "Write to this file instead of standard output");
  command->add_option("--namespace", flags->ns, "The manager's namespace")
      ->check(IsNamespace())
      ->capture_default_str();
  command
      ->add_option("--base-name", flags->base_name,
                   "The name of the manager's ServiceAccount; a component's is NAME-component")
      ->check(IsBaseName())
      ->capture_default_str();
  command->add_flag("--bodies", flags->bodies,
                    "Log the bodies that trace needs to find bindings without a ScopeInstance "
                    "(orphan-binding): those of the components' bindings, and all ScopeInstances");
  AddMandateSourceFlags(command, &flags->sources);
  command->footer(
      "For kube-apiserver --audit-policy-file. It covers only the manager's identities, and with\n"
      "--bodies the ScopeInstances of all users: merge its rules with your own.\n\n"
      "Example: rbacgen audit-policy --namespace=mandate-system controllers > audit-policy.yaml");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
