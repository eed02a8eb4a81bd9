// rbacgen trace: shows which component made which requests with which token, from the audit log.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "rbacgen/audit/report.h"
#include "rbacgen/audit/trace.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/read_logs.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  TraceOptions options;
  bool check = false;
  bool json = false;
  LogFlags logs;
};

int Run(const Flags& flags) {
  Trace trace(flags.options);
  if (const int error = ReadLogs(flags.logs, &trace)) return error;
  const TraceReport report = trace.Finish();
  if (report.lines == report.unreadable_lines) {
    PrintMessage(
        StrCat(report.lines == 0 ? "the log is empty" : "no line of the log is an audit event",
               report.unreadable.empty() ? "" : StrCat(" (", report.unreadable.front(), ")"),
               ": use the file that the API server writes to (--audit-log-path)"));
    return kExitUnknown;
  }
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  const std::string text = flags.json ? TraceJson(report) : TraceText(report, colour);
  if (const int error = Emit("-", text)) return error;
  if (report.requests == 0) {
    PrintMessage(StrCat("the log has no request from the manager ", flags.options.base_name,
                        " in namespace ", flags.options.ns,
                        ", so it proves nothing; --base-name and --namespace name another manager, "
                        "and the audit policy needs the level Metadata or higher"));
  }
  if (!flags.check) return 0;
  for (const TraceFinding& finding : report.findings) {
    PrintMessage(StrCat(finding.kind, ": ", finding.text));
  }
  return report.findings.empty() && report.requests > 0 ? 0 : kExitFound;
}

std::string FindingsHelp() {
  std::string text =
      "A request counts once, at its end; a watch counts at its start. --check exits 1 for a log "
      "without a\nrequest from the manager, and for any of these findings:\n";
  for (const TraceFindingKind& kind : TraceFindingKinds()) {
    const std::string name = kind.name, severity = kind.severity;
    StrAppend(&text, "  ", name, std::string(19 - name.size(), ' '), severity,
              std::string(8 - severity.size(), ' '), kind.says, "\n");
  }
  return text;
}

}  // namespace

void AddTraceCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "trace",
      "Read the API server's audit log, and list the requests and tokens of each component");
  AddLogFlags(command, &flags->logs);
  command->add_flag("--check", flags->check, "Exit 1 if there is a finding: see below");
  command->add_flag("--json", flags->json, "Print JSON, without shortened values");
  AddTraceFlags(command, &flags->options);
  command->add_option("--namespace", flags->options.ns, "The manager's namespace")
      ->capture_default_str();
  command
      ->add_option("--base-name", flags->options.base_name,
                   "The name of the manager's ServiceAccount; a component's is NAME-component")
      ->check(IsBaseName())
      ->capture_default_str();
  command->footer(FindingsHelp());
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
