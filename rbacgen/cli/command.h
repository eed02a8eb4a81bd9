// The sub-commands of rbacgen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "rbacgen/cli/exit_codes.h"
#include "rbacgen/markers/component_from.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Each function declares a sub-command and its flags; running the sub-command sets *exit_code.
void AddGenerateCommand(CLI::App& app, int* exit_code);
void AddCheckCommand(CLI::App& app, int* exit_code);
void AddRbacCommand(CLI::App& app, int* exit_code);
void AddCrdCommand(CLI::App& app, int* exit_code);
void AddWebhookCommand(CLI::App& app, int* exit_code);
void AddHeaderCommand(CLI::App& app, int* exit_code);
void AddKindsCommand(CLI::App& app, int* exit_code);
void AddChartCommand(CLI::App& app, int* exit_code);
void AddAuditPolicyCommand(CLI::App& app, int* exit_code);
void AddTraceCommand(CLI::App& app, int* exit_code);
void AddAuditCommand(CLI::App& app, int* exit_code);
void AddDiffCommand(CLI::App& app, int* exit_code);
void AddCanICommand(CLI::App& app, int* exit_code);
void AddWhoCanCommand(CLI::App& app, int* exit_code);
void AddBlastRadiusCommand(CLI::App& app, int* exit_code);
void AddMutateCommand(CLI::App& app, int* exit_code);

// Validators of options: a ComponentFrom (marker, dir or file), a namespace, the name of the
// manager's ServiceAccount, which must also be a valid label value, and an audience of tokens,
// which is quoted in the CEL of a policy.
CLI::Validator ComponentFromWords();
CLI::Validator IsNamespace();
CLI::Validator IsBaseName();
CLI::Validator IsAudience();

// The source code that a command reads: PATH… and --component-from.
struct SourceFlags {
  std::vector<std::string> paths;
  ComponentFrom component_from = ComponentFrom::kMarker;
  bool warn_unjustified = false;  // for ReadMandateSources()
};
// `flags` outlive the command.
void AddSourceFlags(CLI::App* command, SourceFlags* flags);
// Adds the same flags and --warn-unjustified, for commands that make mandates.
void AddMandateSourceFlags(CLI::App* command, SourceFlags* flags);

// Reads every file that the flags name. kExitUnknown, after a message on standard error, if a file
// does not exist.
int ReadSources(const SourceFlags& flags, Severity misplaced, Sources* sources,
                Diagnostics* diagnostics);

// Reads the sources for commands that make mandates. Every mistake is an error. So are sources
// without a component and, without --warn-unjustified, risky rules without a reason. 0 if `sources`
// can be used, else the exit code, after the report.
int ReadMandateSources(const SourceFlags& flags, Sources* sources, Diagnostics* diagnostics);

// For commands that replace controller-gen, which reads subfolders only of paths that end in /...:
// reports the number of markers in the subfolders of each other path.
void SayWhatIsBelow(const std::vector<std::string>& paths, const std::vector<Place>& markers);

// Prints "rbacgen: TEXT" to standard error as one line. Control characters are escaped, because
// names in the text may come from any user.
void PrintMessage(std::string_view text);

// Prints the report to standard error. 0 without errors, kExitUnknown if an input could not be
// read, else kExitFound.
int Conclude(const Diagnostics& diagnostics);

// Writes the text to the file, and makes its folder; if `file` is empty or "-", writes it to
// standard output. 0, or kExitUnknown, after a message on standard error.
int Emit(const std::string& file, const std::string& text);

// Emit(), for the output of the sources. kExitUnknown if `file` is one of them.
int EmitFrom(const SourceFlags& sources, const std::string& file, const std::string& text);

// Makes a folder and its parents if they are missing, and reports this on standard error, because
// the name may be mistyped. 0, or kExitUnknown, after a message on standard error.
int MakeFolder(const std::string& folder);

}  // namespace mandate::rbacgen
