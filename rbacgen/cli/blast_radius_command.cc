// rbacgen blast-radius: prints what an identity can reach.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "rbacgen/ask/blast_radius.h"
#include "rbacgen/ask/known_users.h"
#include "rbacgen/ask/radius_report.h"
#include "rbacgen/ask/subjects.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/inputs.h"
#include "rbacgen/world/builtin_policy.h"
#include "rbacgen/world/unresolved.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  InputFlags input;
  std::string old_input = ".", new_input;
  std::vector<std::string> as;
  bool json = false;
};

// An input, and whether the true reach may be larger than the known one.
struct Measured {
  World world;     // the world of the input
  World complete;  // the same world with the objects of every cluster
  bool unknown = false;
};

// Reads an input. 0, or the exit code of a mistake, after a message on standard error.
int Read(const Flags& flags, const std::string& input, Measured* measured) {
  // Exit code 1 would mean that the change adds rights.
  if (ReadWorld({input}, flags.input, &measured->world) != 0) return kExitUnknown;
  measured->complete = measured->world;
  // An identity that may run pods everywhere can become the controllers of every cluster.
  AddBuiltinPolicy(&measured->complete);
  ResolveAggregates(&measured->complete);
  for (const UnresolvedBinding& binding : UnresolvedBindings(measured->world)) {
    PrintMessage(binding.ToString());
    measured->unknown = true;
  }
  return 0;
}

// Finds the identities that --as names, or base, and pools them. An identity may exist in only one
// of two inputs; it starts in those that have it, and at least one must. 0, or the exit code of a
// mistake, after a message on standard error.
int FindStart(const Flags& flags,
              const std::vector<std::pair<const Measured*, std::vector<rbac::UserInfo>*>>& starts) {
  const std::vector<std::string> base = {"base"};
  for (const std::string& name : flags.as.empty() ? base : flags.as) {
    absl::Status unknown;
    bool known = false;
    for (const auto& [measured, start] : starts) {
      unknown = CheckKnown(measured->complete, name, {});
      if (!unknown.ok()) continue;
      known = true;
      start->push_back(*FindUser(measured->complete, name, {}));
    }
    if (known) continue;
    if (flags.as.empty()) {
      PrintMessage(StrCat(flags.old_input, " has no base, ServiceAccount ", flags.input.tree.ns,
                          "/", flags.input.tree.base_name, "; set the start: --as=NAMESPACE/NAME"));
    } else {
      PrintMessage(AsStd(unknown.message()));
    }
    return kExitUnknown;
  }
  return 0;
}

std::string ToJson(const Json::Value& value) { return PrintableJson(WriteJson(value)) + "\n"; }

int Print(const std::string& text, bool unknown, int exit_code) {
  const int error = Emit("-", text);
  return error != 0 ? error : unknown ? kExitUnknown : exit_code;
}

int OneRadius(const Flags& flags) {
  Measured is;
  std::vector<rbac::UserInfo> start;
  if (const int error = Read(flags, flags.old_input, &is)) return error;
  if (const int error = FindStart(flags, {{&is, &start}})) return error;
  const BlastRadius radius = ComputeBlastRadius(is.complete, start);
  return Print(flags.json ? ToJson(RadiusJson(radius)) : RadiusText(radius), is.unknown, 0);
}

// Prints the rights that a change adds to the pooled reach of the identities of --as.
int DiffOfSome(const Flags& flags, const Measured& was, const Measured& is) {
  std::vector<rbac::UserInfo> old_start, new_start;
  if (const int error = FindStart(flags, {{&was, &old_start}, {&is, &new_start}})) return error;
  const RadiusDiff diff = DiffRadii(ComputeBlastRadius(was.complete, old_start),
                                    ComputeBlastRadius(is.complete, new_start));
  std::string text = flags.json ? ToJson(RadiusDiffJson(diff)) : RadiusDiffText("", diff);
  if (text.empty()) text = "nothing is added or removed\n";
  return Print(text, was.unknown || is.unknown, diff.grew() ? kExitFound : 0);
}

BlastRadius RadiusOf(const World& world, const std::optional<SubjectKey>& subject) {
  return subject.has_value() ? ComputeBlastRadius(world, {WithGroups(*subject)}) : BlastRadius();
}

// Prints the rights that a change adds to the reach of each subject separately.
int DiffOfEach(const Flags& flags, const Measured& was, const Measured& is) {
  std::string text;
  Json::Value list(Json::arrayValue);
  bool grew = false;
  for (const Compared& c : SubjectsToCompare(was.world, is.world)) {
    const RadiusDiff diff =
        DiffRadii(RadiusOf(was.complete, c.before), RadiusOf(is.complete, c.now));
    if (diff.none()) continue;
    grew = grew || diff.grew();
    StrAppend(&text, Printable(c.title), "\n", RadiusDiffText("  ", diff));
    Json::Value entry = RadiusDiffJson(diff);
    entry["identity"] = c.title;
    list.append(std::move(entry));
  }
  if (text.empty()) text = "nothing is added or removed\n";
  return Print(flags.json ? ToJson(list) : text, was.unknown || is.unknown, grew ? kExitFound : 0);
}

int TwoRadii(const Flags& flags) {
  Measured was, is;
  if (const int error = Read(flags, flags.old_input, &was)) return error;
  if (const int error = Read(flags, flags.new_input, &is)) return error;
  return flags.as.empty() ? DiffOfEach(flags, was, is) : DiffOfSome(flags, was, is);
}

}  // namespace

void AddBlastRadiusCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "blast-radius",
      "List what an identity can reach, directly and through the identities that it can become");
  command->add_option("INPUT", flags->old_input, "See below")->capture_default_str();
  command->add_option(
      "NEW", flags->new_input,
      "A second INPUT: print what it adds to the first; exit 1 if it adds something");
  command
      ->add_option(
          "--as", flags->as,
          "The start: components, NAMESPACE/NAME of ServiceAccounts, users (user:NAME if no "
          "binding has the user). The default is base; for two INPUTs, each subject separately")
      ->allow_extra_args(false);
  command->add_flag("--json", flags->json, "Print JSON");
  AddInputFlags(command, Asks::kOfAll, &flags->input);
  command->footer(
      std::string(
          "An identity reaches more by: token requests and impersonation; creation of pods and of\n"
          "objects that create pods; exec into pods; ServiceAccount token Secrets; binding and\n"
          "escalating roles.\n\n") +
      kInputHelp);
  command->callback([flags, exit_code] {
    *exit_code = flags->new_input.empty() ? OneRadius(*flags) : TwoRadii(*flags);
  });
}

}  // namespace mandate::rbacgen
