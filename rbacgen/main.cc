// rbacgen: from the RBAC markers in source code to roles, charts and compile-time mandates, and
// from the audit log back to who did what.
#include <iostream>

#include "CLI/CLI.hpp"
#include "rbacgen/analysis/commands.h"
#include "rbacgen/audit/commands.h"
#include "rbacgen/command.h"
#include "rbacgen/mutate/commands.h"

namespace {

using AddCommand = void (*)(CLI::App& app, int* exit_code);

// A new sub-command adds its line here.
constexpr AddCommand kCommands[] = {
    mandate::rbacgen::AddRbacCommand,        mandate::rbacgen::AddCrdCommand,
    mandate::rbacgen::AddWebhookCommand,     mandate::rbacgen::AddHeaderCommand,
    mandate::rbacgen::AddChartCommand,       mandate::rbacgen::AddTraceCommand,
    mandate::rbacgen::AddAuditPolicyCommand, mandate::rbacgen::AddAuditCommand,
    mandate::rbacgen::AddDiffCommand,        mandate::rbacgen::AddCanICommand,
    mandate::rbacgen::AddWhoCanCommand,      mandate::rbacgen::AddBlastRadiusCommand,
    mandate::rbacgen::AddMutateCommand,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("From markers in source code to RBAC, and from the audit log back to who did what.",
               "rbacgen");
  app.require_subcommand(1);
  app.footer(
      "rbacgen COMMAND --help says more. Exit codes: 0 done, 1 mistakes in the input, 2 misuse.");
  int exit_code = 0;
  for (const AddCommand add : kCommands) add(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::cerr << "rbacgen: " << e.what() << "\nTry `rbacgen --help`.\n";
    return mandate::rbacgen::kExitMisuse;
  }
  return exit_code;
}
