// rbacgen diff: prints the differences of two worlds.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rbacgen/ask/world_diff.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/inputs.h"
#include "rbacgen/world/unresolved.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  InputFlags input;
  std::string old_input, new_input;
  std::string fail_on = "any";
  bool json = false;
};

bool AnyGained(const std::vector<IdentityDiff>& diffs) {
  for (const IdentityDiff& d : diffs) {
    if (!d.gained.empty() || !d.gained_later.empty()) return true;
  }
  return false;
}

// Reports the bindings with unknown roles that only one of the inputs has. Returns whether there
// are any.
bool SayUnknown(const World& before, const World& now) {
  std::set<std::string> old_texts, new_texts;
  for (const auto& b : UnresolvedBindings(before)) old_texts.insert(b.ToString());
  for (const auto& b : UnresolvedBindings(now)) new_texts.insert(b.ToString());
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(old_texts, new_texts, std::back_inserter(differ));
  for (const std::string& text : differ) PrintMessage(text);
  return !differ.empty();
}

int Diff(const Flags& flags) {
  World before, now;
  for (const auto& [input, world] :
       {std::pair(flags.old_input, &before), std::pair(flags.new_input, &now)}) {
    if (ReadWorld({input}, flags.input, world) != 0) return kExitUnknown;
  }
  const auto diffs = DiffWorlds(before, now);
  if (const int error = Emit("-", flags.json ? DiffJson(diffs) : DiffText(diffs))) return error;
  if (SayUnknown(before, now)) return kExitUnknown;
  if (flags.fail_on == "never" || diffs.empty()) return 0;
  return flags.fail_on == "any" || AnyGained(diffs) ? kExitFound : 0;
}

}  // namespace

void AddDiffCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("diff", "List the permissions that each component gains and loses");
  command->add_option("OLD", flags->old_input, "An INPUT; see below")->required();
  command->add_option("NEW", flags->new_input, "An INPUT")->required();
  command
      ->add_option("--fail-on", flags->fail_on,
                   "Exit 1 on any difference, on gained permissions only, or never")
      ->check(CLI::IsMember({"any", "gained", "never"}))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print JSON");
  AddInputFlags(command, Asks::kOfAll, &flags->input);
  command->footer(
      std::string("Exit codes: 0 the same, 1 different, 2 an input is unreadable or incomplete.\n"
                  "Examples: git worktree add /tmp/main main; rbacgen diff /tmp/main/controllers "
                  "controllers\n"
                  "          rbacgen diff controllers cluster\n\n") +
      kInputHelp);
  command->callback([flags, exit_code] { *exit_code = Diff(*flags); });
}

}  // namespace mandate::rbacgen
