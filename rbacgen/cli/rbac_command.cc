// rbacgen rbac: prints the roles that controller-gen prints for the same markers.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/emit/roles.h"
#include "rbacgen/lint/lint.h"
#include "rbacgen/markers/minimal_rules.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  std::string role_name;
  std::string out;
  bool minimal = false;
  SourceFlags sources;
};

int Run(const Flags& flags) {
  if (flags.role_name.empty() && flags.sources.component_from == ComponentFrom::kMarker) {
    std::cerr << "rbacgen: rbac needs --role-name=NAME, or --component-from=dir\n";
    return kExitUnknown;
  }
  Sources sources;
  Diagnostics diagnostics;
  if (const int misuse = ReadSources(flags.sources, Severity::kWarning, &sources, &diagnostics)) {
    return misuse;
  }
  auto& declarations = sources.declarations;
  const size_t all = declarations.size();
  std::erase_if(declarations, [](const Declaration& d) { return d.ours; });
  LintAll(sources, Severity::kWarning, &diagnostics);
  if (const int errors = Conclude(diagnostics)) return errors;
  if (const size_t ours = all - declarations.size()) {
    std::cerr << "rbacgen: " << ours << " +mandate:rbac rule" << (ours == 1 ? " is" : "s are")
              << " omitted, as in controller-gen; `rbacgen chart` includes them\n";
  }
  if (declarations.empty()) {
    std::cerr << "rbacgen: the named paths have no +kubebuilder:rbac marker; nothing to print\n";
    return 0;
  }
  std::vector<Place> places;
  for (const Declaration& d : declarations) places.push_back(d.place);
  SayWhatIsBelow(flags.sources.paths, places);
  if (flags.sources.component_from != ComponentFrom::kMarker) {
    NameRolesByComponent(flags.role_name, &declarations);
  }
  std::vector<RoleContent> roles = GroupByRole(declarations, flags.role_name);
  if (flags.minimal) {
    for (RoleContent& role : roles) role.rules = MinimalRules(role.rules);
  }
  return EmitFrom(flags.sources, flags.out, RoleDocuments(roles));
}

}  // namespace

void AddRbacCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "rbac", "Print the roles that controller-gen prints for the same +kubebuilder:rbac markers");
  command->add_option(
      "--role-name", flags->role_name,
      "The name of the role, for markers without roleName; with --component-from=dir or file each "
      "component has its own role, NAME-component");
  command->add_flag(
      "--minimal", flags->minimal,
      "Unlike controller-gen: omit rules that other rules already cover, and merge rules");
  command->add_option("--out", flags->out, "Write to this file instead of standard output");
  AddSourceFlags(command, &flags->sources);
  command->footer(
      "Reads any language with // comments. Mistakes in markers are errors; rules that the API\n"
      "server would reject or ignore are warnings.\n\n"
      "Example: rbacgen rbac --role-name=manager-role ./...");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
