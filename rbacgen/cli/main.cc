// rbacgen: from the RBAC markers in source code to roles, charts and compile-time mandates, and
// from the audit log back to who did what.
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/version.h"
#include "rbacgen/markers/text.h"

namespace {

using AddCommand = void (*)(CLI::App& app, int* exit_code);

// A new sub-command adds its line here.
constexpr AddCommand kCommands[] = {
    mandate::rbacgen::AddGenerateCommand,    mandate::rbacgen::AddCheckCommand,
    mandate::rbacgen::AddRbacCommand,        mandate::rbacgen::AddCrdCommand,
    mandate::rbacgen::AddWebhookCommand,     mandate::rbacgen::AddHeaderCommand,
    mandate::rbacgen::AddChartCommand,       mandate::rbacgen::AddTraceCommand,
    mandate::rbacgen::AddAuditPolicyCommand, mandate::rbacgen::AddAuditCommand,
    mandate::rbacgen::AddDiffCommand,        mandate::rbacgen::AddCanICommand,
    mandate::rbacgen::AddWhoCanCommand,      mandate::rbacgen::AddBlastRadiusCommand,
    mandate::rbacgen::AddMutateCommand,
};

// "--namespace=", as `--namespace=$UNSET` becomes: CLI11 would take the next argument for its
// value.
const char* FlagWithoutValue(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) return argv[i];
  }
  return nullptr;
}

// Says what is wrong, and which command's --help is about it.
int Misuse(const CLI::App& app, const CLI::ParseError& error, const char* first) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  std::cerr << "rbacgen: ";
  if (named.empty() && first != nullptr && *first != '-') {
    std::cerr << "unknown command " << mandate::rbacgen::Quoted(first);
    for (const auto* other : app.get_subcommands(nullptr)) {
      if (mandate::rbacgen::IsOneEditAway(first, other->get_name())) {
        std::cerr << "; did you mean " << mandate::rbacgen::Quoted(other->get_name()) << "?";
        break;
      }
    }
  } else {
    std::cerr << error.what();
  }
  std::cerr << "\nTry `rbacgen " << (named.empty() ? "" : named.front()->get_name() + " ")
            << "--help`.\n";
  return mandate::rbacgen::kExitUnknown;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Generates RBAC from markers in source code, and compares it with the API server's audit "
      "log.",
      "rbacgen");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("rbacgen ") + mandate::rbacgen::kVersion);
  app.footer(
      "Run `rbacgen COMMAND --help` for details.\n\nExit codes of every command:\n"
      "  0  done; yes; no difference; nothing found\n"
      "  1  no; different; something found, such as mistakes in markers\n"
      "  2  unknown: an invalid command line, an unreadable input, an unwritable output");
  if (const char* flag = FlagWithoutValue(argc, argv)) {
    std::cerr << "rbacgen: " << flag << " has no value; add a value, or remove the flag\n";
    return mandate::rbacgen::kExitUnknown;
  }
  int exit_code = 0;
  for (const AddCommand add : kCommands) add(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return Misuse(app, e, argv[1]);
  }
  return exit_code;
}
