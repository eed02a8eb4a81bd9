#include "rbacgen/cli/help.h"

namespace mandate::rbacgen {

std::vector<std::string> WithHelpAsFlag(std::vector<std::string> arguments) {
  if (arguments.empty()) return {"--help"};
  if (arguments[0] == "version") {
    arguments[0] = "--version";
  } else if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
  }
  return arguments;
}

}  // namespace mandate::rbacgen
