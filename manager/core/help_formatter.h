// The layout of help texts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mandate {

// Lines of at most 100 columns, without the names of C++ types. Immutable.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace mandate
