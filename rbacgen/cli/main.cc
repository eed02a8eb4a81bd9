// rbacgen: generates roles, charts and compile-time mandates from the RBAC markers in source code,
// and compares them with the audit log.
#include <algorithm>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "manager/core/closest_name.h"
#include "manager/core/command_line.h"
#include "manager/core/help_formatter.h"
#include "manager/core/printable.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/help.h"
#include "rbacgen/markers/text.h"
#include "version.h"

namespace {

struct Command {
  const char* group;
  void (*add)(CLI::App& app, int* exit_code);
};

// In the order of the help text. Each command has a line here.
constexpr Command kCommands[] = {
    {"Generate", mandate::rbacgen::AddGenerateCommand},
    {"Generate", mandate::rbacgen::AddChartCommand},
    {"Generate", mandate::rbacgen::AddHeaderCommand},
    {"Generate", mandate::rbacgen::AddCrdCommand},
    {"Generate", mandate::rbacgen::AddKindsCommand},
    {"Generate", mandate::rbacgen::AddAuditPolicyCommand},
    {"Generate", mandate::rbacgen::AddRbacCommand},
    {"Generate", mandate::rbacgen::AddWebhookCommand},
    {"Lint", mandate::rbacgen::AddCheckCommand},
    {"Lint", mandate::rbacgen::AddMutateCommand},
    {"Ask", mandate::rbacgen::AddCanICommand},
    {"Ask", mandate::rbacgen::AddWhoCanCommand},
    {"Ask", mandate::rbacgen::AddDiffCommand},
    {"Ask", mandate::rbacgen::AddBlastRadiusCommand},
    {"Audit", mandate::rbacgen::AddAuditCommand},
    {"Audit", mandate::rbacgen::AddTraceCommand},
};

// Reports an invalid command line, and names the command whose --help describes it.
int Misuse(const CLI::App& app, const CLI::ParseError& error, const std::string& first) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  std::cerr << "rbacgen: ";
  if (named.empty() && !first.starts_with('-')) {
    std::cerr << "unknown command " << mandate::rbacgen::Quoted(first);
    std::vector<std::string> commands;
    for (const auto* other : app.get_subcommands(nullptr)) commands.push_back(other->get_name());
    if (const auto near = mandate::ClosestName(first, commands)) {
      std::cerr << "; did you mean " << mandate::rbacgen::Quoted(*near) << "?";
    }
  } else {
    std::cerr << mandate::Printable(mandate::ParseErrorText(app, error));
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
  const auto formatter = std::make_shared<mandate::HelpFormatter>();
  formatter->label("SUBCOMMAND", "COMMAND");
  formatter->label("OPTIONS", "FLAGS");
  formatter->label("Positionals", "Arguments");
  app.formatter(formatter);
  app.set_version_flag("--version", std::string("rbacgen ") + mandate::kVersion);
  app.footer(
      "`rbacgen help COMMAND` describes a command. `rbacgen version` prints the version.\n"
      "`rbacgen check PATH…` is the linter for markers.\n\nExit codes of every command:\n"
      "  0  done; yes; no difference; no findings\n"
      "  1  no; different; findings, such as mistakes in markers\n"
      "  2  unknown: an invalid command line, an unreadable input, an unwritable output");
  if (const auto mistake = mandate::FlagWithoutValue({argv + 1, argv + argc})) {
    std::cerr << "rbacgen: " << mandate::Printable(*mistake) << "\n";
    return mandate::rbacgen::kExitUnknown;
  }
  int exit_code = 0;
  for (const Command& command : kCommands) {
    command.add(app, &exit_code);
    app.get_subcommands(nullptr).back()->group(command.group);
  }
  std::vector<std::string> arguments =
      mandate::rbacgen::WithHelpAsFlag(std::vector<std::string>(argv + 1, argv + argc));
  const std::string first = arguments[0];
  std::ranges::reverse(arguments);  // CLI11 expects them in reverse order
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp& e) {
    const bool unknown = !first.starts_with('-') && app.get_subcommands().empty();
    if (unknown) return Misuse(app, e, first);
    if (argc > 1) return app.exit(e);
    std::cerr << app.help();
    return mandate::rbacgen::kExitUnknown;
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return Misuse(app, e, first);
  } catch (const std::bad_alloc&) {
    std::cerr << "rbacgen: out of memory; use fewer or smaller files\n";
    return mandate::rbacgen::kExitUnknown;
  }
  return exit_code;
}
