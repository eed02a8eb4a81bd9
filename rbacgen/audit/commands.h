// The sub-commands of this room beside trace.
#ifndef RBACGEN_AUDIT_COMMANDS_H_
#define RBACGEN_AUDIT_COMMANDS_H_

#include "CLI/CLI.hpp"

namespace mandate::rbacgen {

// Declares its sub-command and flags; running it sets *exit_code.
void AddAuditCommand(CLI::App& app, int* exit_code);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_COMMANDS_H_
