// rbacgen audit: reports declared, compiled, used and granted permissions.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"
#include "rbacgen/audit/four_way.h"
#include "rbacgen/audit/four_way_report.h"
#include "rbacgen/audit/ledger.h"
#include "rbacgen/audit/policy_file.h"
#include "rbacgen/audit/suggestion.h"
#include "rbacgen/calls/compiled_calls.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/inputs.h"
#include "rbacgen/cli/read_logs.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/markers/source_files.h"
#include "rbacgen/world/identities.h"
#include "rbacgen/world/rights.h"
#include "rbacgen/world/unresolved.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  InputFlags input;
  LogFlags logs;
  TraceOptions trace;
  std::vector<std::string> sources;
  std::vector<std::string> granted;
  std::vector<std::string> compiled;
  std::vector<std::string> fail_on;
  std::string audit_policy;
  std::string window;
  bool json = false;
  bool suggest = false;
};

// The value of --fail-on for all findings of the trace.
constexpr char kIdentityKinds[] = "identity";

int Misuse(const std::string& text) {
  PrintMessage(text);
  return kExitUnknown;
}

// The data that is read before the log.
struct Known {
  Sources sources;
  World tree, granted;
  FourWayInput input;
  AuditPolicyFile policy;
  bool unresolved = false;  // --granted does not have all roles of an identity
};

std::vector<RuleAtom> AtomsOf(const World& world, const rbac::UserInfo& user) {
  std::vector<RuleAtom> atoms;
  const rbac::Authorizer authorizer(world.policy);
  for (const Right& right : GrantedRightsOf(authorizer, user)) {
    AddAtoms(right.rule, {.ns = right.ns, .rule = {}, .source = right.via}, &atoms);
  }
  return atoms;
}

std::vector<RuleAtom> DeclaredAtoms(const Known& known, const std::string& component) {
  std::vector<RuleAtom> atoms;
  for (const Declaration& d : known.sources.declarations) {
    if (d.component != component) continue;
    rbac::Rule rule = d.rule;
    std::ranges::replace(rule.api_groups, "core", "");
    AddAtoms(rule, {.ns = d.ns, .rule = {}, .source = d.place.ToString(), .external = d.external},
             &atoms);
  }
  if (known.sources.components.contains(component)) {
    for (const std::string& ns : EventNamespaces(known.sources, component)) {
      AddAtoms(EventsRule(), {.ns = ns, .rule = {}, .source = "every component", .implicit = true},
               &atoms);
    }
  } else if (const auto user = known.input.users.find(component); user != known.input.users.end()) {
    // This is base, whose rules depend on the components; or no sources were given.
    const World& world = known.sources.components.empty() ? known.granted : known.tree;
    atoms = AtomsOf(world, user->second);
    if (&world == &known.tree) {
      for (RuleAtom& atom : atoms) atom.source = "the chart";
    }
  }
  return atoms;
}

int ReadIdentities(const Flags& flags, TraceOptions* options, Known* known) {
  const auto identities = ParseIdentities(flags.input.identities);
  absl::Status status = identities.status();
  if (status.ok()) status = CheckComponents(*identities, known->sources.components);
  if (!status.ok()) return Misuse(std::string(status.message()));
  for (const NamedIdentity& one : *identities) {
    known->input.users[one.component] = one.user;
    options->others[one.user.name] = one.component;
  }
  return 0;
}

// Reports the bindings of the identities whose roles are missing in --granted. Returns whether
// there are any.
bool SayUnresolved(const Known& known) {
  bool any = false;
  for (const UnresolvedBinding& binding : UnresolvedBindings(known.granted)) {
    const bool is_theirs = std::ranges::any_of(
        known.input.users, [&](const auto& entry) { return binding.Binds(entry.second); });
    if (!is_theirs) continue;
    any = true;
    PrintMessage(binding.ToString());
  }
  return any;
}

int ReadKnown(const Flags& flags, TraceOptions* options, Known* known) {
  if (flags.sources.empty() && flags.granted.empty()) {
    return Misuse("audit needs --sources, --granted, or both, to compare the log with");
  }
  FourWayInput& input = known->input;
  if (!flags.sources.empty()) {
    if (ReadTree(flags.sources, flags.input, &known->sources) != 0) return kExitUnknown;
    known->tree = TreeWorld(known->sources, flags.input.tree);
  }
  if (!flags.granted.empty()) {
    if (ReadWorld(flags.granted, flags.input, &known->granted) != 0) return kExitUnknown;
    input.has_granted = true;
  }
  const World& names = flags.sources.empty() ? known->granted : known->tree;
  for (const auto& [component, account] : names.components) {
    input.users[component] = rbac::ServiceAccountInfo(account.ns, account.name);
  }
  if (const int misuse = ReadIdentities(flags, options, known)) return misuse;
  // A project that has only --identity flags has no Mandate manager.
  if (!flags.input.identities.empty()) {
    std::erase_if(input.users,
                  [&](const auto& entry) { return !options->others.contains(entry.second.name); });
  }
  known->unresolved = SayUnresolved(*known);
  for (const std::string& file : flags.compiled) {
    auto calls = ReadCompiledCalls(file);
    if (!calls.ok()) return Misuse(std::string(calls.status().message()));
    if (!input.compiled) input.compiled.emplace();
    input.compiled->insert(input.compiled->end(), calls->begin(), calls->end());
  }
  if (!flags.audit_policy.empty()) {
    const auto text = ReadWholeFile(flags.audit_policy);
    if (!text.ok()) {
      return Misuse(StrCat(flags.audit_policy, ": ", AsStd(text.status().message())));
    }
    auto policy = AuditPolicyFile::Parse(*text);
    if (!policy.ok()) {
      return Misuse(StrCat(flags.audit_policy, ": ", AsStd(policy.status().message())));
    }
    known->policy = *std::move(policy);
    input.policy = &known->policy;
  }
  absl::Duration window;
  if (!flags.window.empty() && !absl::ParseDuration(flags.window, &window)) {
    return Misuse(StrCat("--window=", flags.window, ": write a duration, such as 24h"));
  }
  input.window_seconds = absl::ToDoubleSeconds(window);
  return 0;
}

std::set<std::string> Failing(const Flags& flags) {
  std::set<std::string> kinds(flags.fail_on.begin(), flags.fail_on.end());
  if (kinds.contains(kIdentityKinds)) {
    for (const TraceFindingKind& kind : TraceFindingKinds()) kinds.insert(kind.name);
  }
  if (!kinds.empty()) return kinds;
  for (const FindingKind& kind : FindingKinds()) {
    if (kind.fails) kinds.insert(kind.name);
  }
  return kinds;
}

int Run(const Flags& flags) {
  TraceOptions options = flags.trace;
  options.ns = flags.input.tree.ns;
  options.base_name = flags.input.tree.base_name;
  Known known;
  if (const int misuse = ReadKnown(flags, &options, &known)) return misuse;
  Ledger ledger;
  for (const auto& [component, user] : known.input.users) {
    ledger.Declare(
        component, DeclaredAtoms(known, component),
        known.input.has_granted ? AtomsOf(known.granted, user) : std::vector<RuleAtom>());
  }
  Trace trace(options, [&](const AuditEvent& event, const std::string& component,
                           const std::string& bearer) { ledger.Note(event, component, bearer); });
  if (const int error = ReadLogs(flags.logs, &trace)) return error;
  const TraceReport traced = trace.Finish();
  const FourWayReport report = BuildFourWay(known.input, ledger, traced);
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  const std::string text = flags.suggest
                               ? SuggestMarkers(report, ledger, known.sources, ReadWholeFile)
                           : flags.json ? FourWayJson(report, traced)
                                        : FourWayText(report, traced, colour);
  if (const int error = Emit("-", text)) return error;
  if (known.unresolved) return kExitUnknown;
  const std::set<std::string> failing = Failing(flags);
  const auto fails = [&](const Finding& f) { return failing.contains(f.kind); };
  return std::ranges::any_of(report.findings, fails) ? kExitFound : 0;
}

std::string KindsHelp() {
  std::string text = "Kinds of findings (* causes exit code 1):\n";
  for (const FindingKind& kind : FindingKinds()) {
    StrAppend(&text, "  ", kind.fails ? "*" : " ", kind.name,
              std::string(19 - std::string(kind.name).size(), ' '), kind.says, "\n");
  }
  StrAppend(&text,
            "  --fail-on=identity selects masters and all kinds below it. `rbacgen trace` reports "
            "these, too.\n");
  return text;
}

}  // namespace

void AddAuditCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "audit", "Compare the declared, called, used and granted permissions of each component");
  AddLogFlags(command, &flags->logs);
  command->add_option("--sources", flags->sources, "Source files and folders with markers")
      ->allow_extra_args(false);
  command->add_option("--granted", flags->granted, "INPUTs with the granted permissions; see below")
      ->allow_extra_args(false);
  command->add_option("--compiled", flags->compiled, "Binaries to search for typed calls")
      ->allow_extra_args(false);
  command->add_option(
      "--audit-policy", flags->audit_policy,
      "The API server's --audit-policy-file, to distinguish unused rules from unlogged ones");
  command->add_option("--window", flags->window,
                      "Report a rule as unused only if the log covers this period, such as 24h");
  std::set<std::string> kinds = {"none", kIdentityKinds};
  for (const FindingKind& kind : FindingKinds()) kinds.insert(kind.name);
  command->add_option("--fail-on", flags->fail_on, "Exit 1 on these kinds of findings, or none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(kinds).description("KIND"));
  command->add_flag("--json", flags->json, "Print JSON, without shortened values");
  command->add_flag("--suggest", flags->suggest,
                    "Print only the suggested changes to the markers, as a diff (patch -p0)");
  AddTraceFlags(command, &flags->trace);
  AddInputFlags(command, Asks::kOfAll, &flags->input);
  command->footer(KindsHelp() +
                  "\n"
                  "Example: rbacgen audit --sources=controllers --granted=cluster audit.log\n\n" +
                  kInputHelp);
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
