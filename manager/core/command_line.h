// Mistakes in command lines, in the words of kubectl.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mandate {

// Finds a flag with an empty value, such as `--namespace=` (from `--namespace=$UNSET`), and returns
// the message that reports it. CLI11 would take the next argument as the value.
std::optional<std::string> FlagWithoutValue(const std::vector<std::string>& arguments);

// One line for what `app` threw. An unknown flag comes with the known flag that it probably means,
// a wrong word with the valid words, a missing argument with all that the command needs.
std::string ParseErrorText(const CLI::App& app, const CLI::ParseError& error);

}  // namespace mandate
