// The sub-command of this room.
#ifndef RBACGEN_MUTATE_COMMANDS_H_
#define RBACGEN_MUTATE_COMMANDS_H_

#include "CLI/CLI.hpp"

namespace mandate::rbacgen {

// Declares its sub-command and flags; running it sets *exit_code.
void AddMutateCommand(CLI::App& app, int* exit_code);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MUTATE_COMMANDS_H_
