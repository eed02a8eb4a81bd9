// The sub-commands of rbacgen.
#ifndef RBACGEN_CLI_COMMAND_H_
#define RBACGEN_CLI_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "rbacgen/cli/exit_codes.h"
#include "rbacgen/markers/component_from.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Each declares its sub-command and flags; running it sets *exit_code.
void AddGenerateCommand(CLI::App& app, int* exit_code);
void AddCheckCommand(CLI::App& app, int* exit_code);
void AddRbacCommand(CLI::App& app, int* exit_code);
void AddCrdCommand(CLI::App& app, int* exit_code);
void AddWebhookCommand(CLI::App& app, int* exit_code);
void AddHeaderCommand(CLI::App& app, int* exit_code);
void AddChartCommand(CLI::App& app, int* exit_code);
void AddAuditPolicyCommand(CLI::App& app, int* exit_code);
void AddTraceCommand(CLI::App& app, int* exit_code);
void AddAuditCommand(CLI::App& app, int* exit_code);
void AddDiffCommand(CLI::App& app, int* exit_code);
void AddCanICommand(CLI::App& app, int* exit_code);
void AddWhoCanCommand(CLI::App& app, int* exit_code);
void AddBlastRadiusCommand(CLI::App& app, int* exit_code);
void AddMutateCommand(CLI::App& app, int* exit_code);

// Validators of options: of type ComponentFrom (marker, dir or file), of a namespace, of the
// manager's ServiceAccount, whose name is a label's value too, and of an audience of tokens, which
// a policy's CEL will have in quotes.
CLI::Validator ComponentFromWords();
CLI::Validator IsNamespace();
CLI::Validator IsBaseName();
CLI::Validator IsAudience();

// The source code that a command reads: PATH… and --component-from.
struct SourceFlags {
  std::vector<std::string> paths;
  ComponentFrom component_from = ComponentFrom::kMarker;
  bool warn_unjustified = false;  // of ReadMandateSources()
};
// `flags` outlive the command.
void AddSourceFlags(CLI::App* command, SourceFlags* flags);
// Those, and --warn-unjustified: for commands that make mandates.
void AddMandateSourceFlags(CLI::App* command, SourceFlags* flags);

// Reads every file that the flags name. kExitUnknown, reported on standard error, if one does not
// exist.
int ReadSources(const SourceFlags& flags, Severity misplaced, Sources* sources,
                Diagnostics* diagnostics);

// For commands that make mandates. Every mistake is an error, also sources without a component and,
// without --warn-unjustified, a risky rule without a reason. 0 if `sources` can be used, else the
// exit code, after the report.
int ReadMandateSources(const SourceFlags& flags, Sources* sources, Diagnostics* diagnostics);

// For commands that replace controller-gen, which does not read the folders below a path without
// /...: reports the number of markers below each such path.
void SayWhatIsBelow(const std::vector<std::string>& paths, const std::vector<Place>& markers);

// Prints "rbacgen: TEXT" to standard error as one line, with control characters escaped: names in
// it may come from any user.
void PrintMessage(std::string_view text);

// Prints the report to standard error; kExitFound if it has errors, else 0.
int Conclude(const Diagnostics& diagnostics);

// To the file, or to standard output if it is empty or "-"; makes the file's folder. 0, or
// kExitUnknown, reported on standard error.
int Emit(const std::string& file, const std::string& text);

// Makes a missing folder, with those above it, and reports it on standard error, because the name
// may be mistyped. 0, or kExitUnknown, reported on standard error.
int MakeFolder(const std::string& folder);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_COMMAND_H_
