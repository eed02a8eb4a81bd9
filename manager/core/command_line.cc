#include "manager/core/command_line.h"

#include "manager/core/near_name.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

void AddFlags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
}

}  // namespace

std::optional<std::string> FlagWithoutValue(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      return StrCat(argument, " has no value; add a value, or remove the flag");
    }
  }
  return std::nullopt;
}

std::string ParseErrorText(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extra = app.remaining(/*recurse=*/true);
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) || extra.empty())
    return error.what();
  const std::string& first = extra.front();
  if (!first.starts_with('-')) return StrCat("unexpected argument ", first);
  const std::string flag = first.substr(0, first.find('='));
  std::vector<std::string> known;
  AddFlags(app, known);
  for (const CLI::App* command : app.get_subcommands()) AddFlags(*command, known);
  return StrCat("unknown flag ", flag, DidYouMean(flag, known));
}

}  // namespace mandate
