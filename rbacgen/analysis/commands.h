// The sub-commands of this room.
#ifndef RBACGEN_ANALYSIS_COMMANDS_H_
#define RBACGEN_ANALYSIS_COMMANDS_H_

#include "CLI/CLI.hpp"

namespace mandate::rbacgen {

// Each declares its sub-command and flags; running it sets *exit_code.
void AddDiffCommand(CLI::App& app, int* exit_code);
void AddCanICommand(CLI::App& app, int* exit_code);
void AddWhoCanCommand(CLI::App& app, int* exit_code);
void AddBlastRadiusCommand(CLI::App& app, int* exit_code);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ANALYSIS_COMMANDS_H_
