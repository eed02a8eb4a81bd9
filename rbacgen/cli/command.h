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

// What of the source code a command reads: PATH… and --component-from.
struct SourceFlags {
  std::vector<std::string> paths;
  ComponentFrom component_from = ComponentFrom::kMarker;
  bool warn_unjustified = false;  // of ReadMandateSources()
};
// `flags` outlive the command.
void AddSourceFlags(CLI::App* command, SourceFlags* flags);
// Those, and --warn-unjustified: for commands that make mandates.
void AddMandateSourceFlags(CLI::App* command, SourceFlags* flags);

// Reads every file that the flags name. kExitUnknown, said on standard error, if one is not there.
int ReadSources(const SourceFlags& flags, Severity misplaced, Sources* sources,
                Diagnostics* diagnostics);

// For what makes mandates: mistakes of every kind are errors, and so are naming no component and,
// without --warn-unjustified, a risky rule that does not say why. 0 if
// `sources` can be used, else the exit code, with the report said.
int ReadMandateSources(const SourceFlags& flags, Sources* sources, Diagnostics* diagnostics);

// For commands that stand in for controller-gen, which reads a folder alone where its path does not
// end with /...: says how many of the markers are below each folder that is named so.
void SayWhatIsBelow(const std::vector<std::string>& paths, const std::vector<Place>& markers);

// Prints "rbacgen: TEXT" to standard error as one line, with control characters escaped: names in
// it may come from anybody.
void PrintMessage(std::string_view text);

// Prints the report to standard error; kExitFound if it has errors, else 0.
int Conclude(const Diagnostics& diagnostics);

// To the file, or to standard output if it is empty or "-"; makes the file's folder. 0, or
// kExitUnknown said on standard error.
int Emit(const std::string& file, const std::string& text);

// Makes a folder that is not there yet, with those above it, and says so on standard error: it may
// be a mistyped one. 0, or kExitUnknown said on standard error.
int MakeFolder(const std::string& folder);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_COMMAND_H_
