// `rbacgen help` and `rbacgen version`.
#pragma once

#include <string>
#include <vector>

namespace mandate::rbacgen {

// Replaces `help [COMMAND]`, `version` and a missing argument by the equivalent flags. The
// arguments do not include the program's name.
std::vector<std::string> WithHelpAsFlag(std::vector<std::string> arguments);

}  // namespace mandate::rbacgen
