// `rbacgen help` and `rbacgen version`.
#ifndef RBACGEN_CLI_HELP_H_
#define RBACGEN_CLI_HELP_H_

#include <string>
#include <vector>

namespace mandate::rbacgen {

// Replaces `help [COMMAND]`, `version` and a missing argument by the equivalent flags. The
// arguments do not include the program's name.
std::vector<std::string> WithHelpAsFlag(std::vector<std::string> arguments);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_HELP_H_
