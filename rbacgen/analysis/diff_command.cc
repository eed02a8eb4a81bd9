// rbacgen diff and blast-radius.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "rbacgen/analysis/blast_radius.h"
#include "rbacgen/analysis/commands.h"
#include "rbacgen/analysis/inputs.h"
#include "rbacgen/analysis/rights_report.h"
#include "rbacgen/analysis/unresolved.h"
#include "rbacgen/analysis/world_diff.h"
#include "rbacgen/audit/table.h"
#include "rbacgen/command.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  InputFlags input;
  std::string old_input, new_input;
  std::vector<std::string> as;
  std::string fail_on = "any";
  bool json = false;
};

bool AnyGained(const std::vector<IdentityDiff>& diffs) {
  for (const IdentityDiff& d : diffs) {
    if (!d.gained.empty() || !d.gained_later.empty()) return true;
  }
  return false;
}

// What is not known of one input and was not known in the same way of the other. Whether there is
// any.
bool SayUnknown(const World& before, const World& now) {
  std::set<std::string> old_texts, new_texts;
  for (const auto& b : UnresolvedBindings(before)) old_texts.insert(b.ToString());
  for (const auto& b : UnresolvedBindings(now)) new_texts.insert(b.ToString());
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(old_texts, new_texts, std::back_inserter(differ));
  for (const std::string& text : differ) std::cerr << "rbacgen: " << text << "\n";
  return !differ.empty();
}

int Diff(const Flags& flags) {
  World before, now;
  for (const auto& [input, world] :
       {std::pair(flags.old_input, &before), std::pair(flags.new_input, &now)}) {
    if (ReadWorld({input}, flags.input, world) != 0) return kExitMisuse;
  }
  const auto diffs = DiffWorlds(before, now);
  if (const int error = Emit("-", flags.json ? DiffJson(diffs) : DiffText(diffs))) return error;
  if (SayUnknown(before, now)) return kExitMisuse;
  if (flags.fail_on == "never" || diffs.empty()) return 0;
  return flags.fail_on == "any" || AnyGained(diffs) ? kExitInput : 0;
}

std::string StepsText(const std::vector<Step>& steps) {
  Table table({{"REACHED"}, {"FROM"}, {"WHICH MAY"}}, /*colour=*/false);
  for (const Step& s : steps) {
    table.Add({s.gained, s.from.empty() ? "(the start)" : s.from, s.how.empty() ? "-" : s.how});
  }
  return table.Write();
}

Json::Value StepsJson(const std::vector<Step>& steps) {
  Json::Value list(Json::arrayValue);
  for (const Step& s : steps) {
    Json::Value entry(Json::objectValue);
    entry["reached"] = s.gained;
    if (!s.from.empty()) entry["from"] = s.from;
    if (!s.how.empty()) entry["right"] = s.how;
    list.append(entry);
  }
  return list;
}

// The blast radius of one input, and whether it may be larger; the exit code of a mistake, or 0.
int Measure(const Flags& flags, const std::string& input, BlastRadius* radius, bool* unknown) {
  World world;
  // Exit code 1 says that something is added.
  if (ReadWorld({input}, flags.input, &world) != 0) return kExitMisuse;
  std::vector<rbac::UserInfo> start;
  for (const std::string& as : flags.as) {
    const auto user = FindUser(world, as, {});
    if (!user.ok()) {
      std::cerr << "rbacgen: " << user.status().message() << "\n";
      return kExitMisuse;
    }
    if (UserTitle(world, user->name) == user->name) {
      std::cerr << "rbacgen: " << user->name << " is no component here; taken as a user's name\n";
    }
    start.push_back(*user);
  }
  *radius = ComputeBlastRadius(world, start);
  for (const UnresolvedBinding& binding : UnresolvedBindings(world)) {
    std::cerr << "rbacgen: " << binding.ToString() << "\n";
    *unknown = true;
  }
  return 0;
}

std::string Whole(const BlastRadius& radius) {
  const std::string rights = RightsText("  ", radius.rights, true);
  return StrCat(StepsText(radius.steps), "\nTogether they may\n",
                rights.empty() ? "  do nothing that not everybody may\n" : rights);
}

int OneRadius(const Flags& flags) {
  BlastRadius radius;
  bool unknown = false;
  if (const int error = Measure(flags, flags.old_input, &radius, &unknown)) return error;
  const auto emit = [&](const std::string& text) {
    const int error = Emit("-", text);
    return error == 0 && unknown ? kExitMisuse : error;
  };
  if (!flags.json) return emit(Whole(radius));
  Json::Value root(Json::objectValue);
  root["everything"] = radius.everything;
  root["steps"] = StepsJson(radius.steps);
  root["rights"] = RightsJson(radius.rights);
  return emit(WriteJson(root) + "\n");
}

// What a change adds, and takes away.
int TwoRadii(const Flags& flags) {
  BlastRadius before, now;
  bool unknown = false;
  if (const int error = Measure(flags, flags.old_input, &before, &unknown)) return error;
  if (const int error = Measure(flags, flags.new_input, &now, &unknown)) return error;
  const auto beyond = [](const BlastRadius& a, const BlastRadius& b) {
    std::set<std::string> known;
    for (const Step& s : a.steps) known.insert(s.gained);
    std::vector<Step> more;
    for (const Step& s : b.steps) {
      if (!known.contains(s.gained)) more.push_back(s);
    }
    return more;
  };
  const std::vector<Step> added = beyond(before, now), removed = beyond(now, before);
  const RightsByNamespace gained = Gained(before.rights, now.rights);
  const RightsByNamespace lost = Gained(now.rights, before.rights);
  const bool grew = !added.empty() || !gained.empty();
  if (flags.json) {
    Json::Value root(Json::objectValue);
    root["everythingBefore"] = before.everything;
    root["everything"] = now.everything;
    root["added"] = StepsJson(added);
    root["removed"] = StepsJson(removed);
    root["gained"] = RightsJson(gained);
    root["lost"] = RightsJson(lost);
    if (const int error = Emit("-", WriteJson(root) + "\n")) return error;
  } else {
    std::string text;
    for (const Step& s : added) {
      StrAppend(&text, "+ reaches ", s.gained, s.from.empty() ? "" : ", as ", s.from,
                s.how.empty() ? "" : " may ", s.how, "\n");
    }
    text += RightsText("+ may ", gained, true);
    for (const Step& s : removed) StrAppend(&text, "- no longer reaches ", s.gained, "\n");
    text += RightsText("- may no longer ", lost, false);
    if (text.empty()) text = "nothing is added and nothing taken away\n";
    if (const int error = Emit("-", text)) return error;
  }
  return unknown ? kExitMisuse : grew ? kExitInput : 0;
}

}  // namespace

void AddDiffCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "diff", "Which permissions each component gains and loses, whatever the markers' wording");
  command->add_option("OLD", flags->old_input, "An INPUT; below")->required();
  command->add_option("NEW", flags->new_input, "An INPUT")->required();
  command
      ->add_option("--fail-on", flags->fail_on,
                   "Exit 1 on any difference, on gained permissions only, or never")
      ->check(CLI::IsMember({"any", "gained", "never"}))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print JSON");
  AddInputFlags(command, Asks::kOfAll, &flags->input);
  command->footer(
      std::string(
          "Exit codes: 0 the same, 1 different, 2 an input cannot be read or is not whole.\n"
          "Examples: git worktree add /tmp/main main; rbacgen diff /tmp/main/controllers "
          "controllers\n"
          "          rbacgen diff controllers cluster\n\n") +
      kInputHelp);
  command->callback([flags, exit_code] { *exit_code = Diff(*flags); });
}

void AddBlastRadiusCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  flags->old_input = ".";
  flags->as = {"base"};
  CLI::App* command = app.add_subcommand(
      "blast-radius", "Whom and what an identity reaches, with all that it can become");
  command->add_option("INPUT", flags->old_input, "Below")->capture_default_str();
  command->add_option("NEW", flags->new_input,
                      "An INPUT: say what it adds to the first; exit 1 if it adds something");
  command->add_option("--as", flags->as, "Where it begins: components, ServiceAccounts, users")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print JSON");
  AddInputFlags(command, Asks::kOfAll, &flags->input);
  command->footer(
      std::string(
          "Ways to more: tokens and impersonation; pods, what creates them, exec into them; "
          "service\n"
          "account token Secrets; binding roles; escalating roles.\n\n") +
      kInputHelp);
  command->callback([flags, exit_code] {
    *exit_code = flags->new_input.empty() ? OneRadius(*flags) : TwoRadii(*flags);
  });
}

}  // namespace mandate::rbacgen
