// `rbacgen help`, `rbacgen version`.
#ifndef RBACGEN_CLI_HELP_H_
#define RBACGEN_CLI_HELP_H_

#include <string>
#include <vector>

namespace mandate::rbacgen {

// The arguments after the program's name, with `help [COMMAND]`, `version` and no argument at all
// as the flags that they stand for.
std::vector<std::string> WithHelpAsFlag(std::vector<std::string> arguments);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_HELP_H_
