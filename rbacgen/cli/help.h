// The layout of help texts.
#ifndef RBACGEN_CLI_HELP_H_
#define RBACGEN_CLI_HELP_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace mandate::rbacgen {

// Lines of at most 100 columns, without the names of C++ types. Immutable.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

// The arguments after the program's name, with `help [COMMAND]`, `version` and no argument at all
// as the flags that they stand for.
std::vector<std::string> WithHelpAsFlag(std::vector<std::string> arguments);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_HELP_H_
