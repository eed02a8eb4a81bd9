// main() of a program that runs components: its flags, signals and exit codes.
//
//   int main(int argc, char** argv) {
//     return mandate::RunProgram(
//         {.name = "webapp-operator",
//          .description = "Runs WebApps.",
//          .version = "0.1.0",
//          .base_mandate = &mandate::kBase,
//          .components =
//              [](auto) -> std::vector<mandate::ComponentSpec> {
//                return {{&mandate::kWebapp, mandate::MakeOnlyController<webapp::MakeController>}};
//              }},
//         argc, argv);
//   }
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "controllers/certificates/settings.h"
#include "manager/component.h"
#include "manager/rbac/mandate.h"

namespace mandate {

struct Program {
  std::string name;                             // as users call it; in its help and messages
  std::string description;                      // the first line of its help
  std::string version;                          // in its user agent, too
  const rbac::Mandate* base_mandate = nullptr;  // kBase of mandate_header(base = "only")
  // All components, in the order of their start. The settings are those of the component
  // webhook-certificates, which MakeComponent() of controllers/certificates/make.h makes; a program
  // without it ignores them. They are filled in when the flags have been parsed.
  std::function<std::vector<ComponentSpec>(std::shared_ptr<const certificates::Settings>)>
      components;
  // Adds flags of the program's own, whose values must be valid when main() ends. May be empty.
  std::function<void(CLI::App&)> add_flags = {};
};

// Parses the flags and runs the enabled components until SIGINT or SIGTERM; a second signal ends
// the process at once. The exit code: 0; 2 if a flag or the configuration is invalid, with the
// reason on stderr. When leadership is lost, or work does not stop in time, the process ends with
// exit code 1. To be called from main(), before any thread starts.
int RunProgram(const Program& program, int argc, char** argv);

}  // namespace mandate
