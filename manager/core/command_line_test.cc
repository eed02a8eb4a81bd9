#include "manager/core/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mandate {
namespace {

TEST(FlagWithoutValueTest, ReportsAnEmptyValueButNotBehindTwoDashes) {
  EXPECT_EQ(FlagWithoutValue({"run", "--namespace=", "x"}),
            "--namespace= has no value; add a value, or remove the flag");
  EXPECT_EQ(FlagWithoutValue({"run", "--namespace=x", "-n=", "--", "--namespace="}), std::nullopt);
}

TEST(ParseErrorTextTest, NamesTheFlagThatIsMeant) {
  const struct {
    std::vector<std::string> arguments;
    const char* text;
  } rows[] = {
      {{"--namspace=x"}, "unknown flag --namspace; did you mean --namespace?"},
      {{"--namespaces", "x"}, "unknown flag --namespaces; did you mean --namespace?"},
      {{"--no-leader-elct"}, "unknown flag --no-leader-elct; did you mean --no-leader-elect?"},
      {{"--quite-another=x"}, "unknown flag --quite-another"},
      {{"-q"}, "unknown flag -q"},
      {{"stray"}, "unexpected argument stray"},
      {{"run", "--depht=2"}, "unknown flag --depht; did you mean --depth?"},
      {{"run", "--namspace=x"}, "unknown flag --namspace; did you mean --namespace?"},
      {{"run", "--depth=x"}, "Could not convert: --depth = x"},
  };
  for (const auto& row : rows) {
    CLI::App app("A program.", "program");
    std::string ns;
    bool elect = true;
    int depth = 0;
    app.add_option("--namespace,-n", ns, "Where.");
    app.add_flag("--leader-elect,!--no-leader-elect", elect, "Whether.");
    app.add_subcommand("run", "Runs.")->add_option("--depth", depth, "How deep.");
    std::vector<std::string> arguments = row.arguments;
    std::ranges::reverse(arguments);
    try {
      app.parse(arguments);
      ADD_FAILURE() << row.text;
    } catch (const CLI::ParseError& error) {
      EXPECT_EQ(ParseErrorText(app, error), row.text);
    }
  }
}

}  // namespace
}  // namespace mandate
