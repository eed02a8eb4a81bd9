#include "manager/core/command_line.h"

#include "manager/core/closest_name.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

void AddFlags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
}

// "a", "a or b", "a, b or c".
std::string Joined(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? StrCat(" ", last, " ") : ", ";
    text += words[i];
  }
  return text;
}

// "--format must be text or json, not \"xml\"" for "--format: xml not in {text,json}", the text of
// CLI::IsMember.
std::string EnumerationText(const std::string& text) {
  constexpr std::string_view kNotIn = " not in {";
  const size_t name = text.find(": "), set = text.rfind(kNotIn);
  if (name == text.npos || set == text.npos || name + 2 > set || !text.ends_with('}')) return text;
  std::vector<std::string> words = {""};
  for (const char c : text.substr(set + kNotIn.size())) {
    if (c == ',') {
      words.emplace_back();
    } else if (c != '}') {
      words.back() += c;
    }
  }
  return StrCat(text.substr(0, name), " must be ", Joined(words, "or"), ", not \"",
                text.substr(name + 2, set - name - 2), "\"");
}

// "--v must be 0 to 5, not 9" for "--v: Value 9 not in range 0 to 5", the text of CLI::Range.
std::string RangeText(const std::string& text) {
  constexpr std::string_view kValue = ": Value ", kNotIn = " not in range ";
  const size_t value = text.find(kValue), range = text.rfind(kNotIn);
  if (value == text.npos || range == text.npos || value + kValue.size() > range) return text;
  return StrCat(text.substr(0, value), " must be ", text.substr(range + kNotIn.size()), ", not ",
                text.substr(value + kValue.size(), range - value - kValue.size()));
}

// "--v is given more than once" for "--v: At Most 1 required but received 2".
std::string RepeatedText(const std::string& text) {
  const size_t end = text.find(": At Most 1 required");
  if (end == text.npos) return text;
  return StrCat(text.substr(0, end), " is given more than once");
}

// "diff needs OLD and NEW" if one of these arguments is missing.
std::string RequiredText(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  std::vector<std::string> needed;
  bool is_argument = false;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || !option->get_required()) continue;
    needed.push_back(option->get_name());
    is_argument |= StrCat(option->get_name(), " is required") == error.what();
  }
  if (!is_argument) return error.what();
  return StrCat(command.get_name(), " needs ", Joined(needed, "and"));
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
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (code == CLI::ExitCodes::ValidationError) return RangeText(EnumerationText(error.what()));
  if (code == CLI::ExitCodes::ArgumentMismatch) return RepeatedText(error.what());
  if (code == CLI::ExitCodes::RequiredError) return RequiredText(app, error);
  const std::vector<std::string> extra = app.remaining(/*recurse=*/true);
  if (code != CLI::ExitCodes::ExtrasError || extra.empty()) return error.what();
  const std::string& first = extra.front();
  if (!first.starts_with('-')) return StrCat("unexpected argument ", first);
  const std::string flag = first.substr(0, first.find('='));
  std::vector<std::string> known;
  AddFlags(app, known);
  for (const CLI::App* command : app.get_subcommands()) AddFlags(*command, known);
  return StrCat("unknown flag ", flag, DidYouMean(flag, known));
}

}  // namespace mandate
