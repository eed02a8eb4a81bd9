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

TEST(ParseErrorTextTest, SaysWhatIsValid) {
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
      {{"--format=xml"}, "--format must be text or json, not \"xml\""},
      {{"--format", "a not in {b}"}, "--format must be text or json, not \"a not in {b}\""},
      {{"--one=x"}, "--one must be 1, not \"x\""},
      {{"run", "--level=9"}, "--level must be 0 to 5, not 9"},
      {{"--namespace=a", "--namespace=b"}, "--namespace is given more than once"},
      {{"run", "--kind=d"}, "--kind must be a, b or c, not \"d\""},
      {{"diff"}, "diff needs OLD and NEW"},
      {{"diff", "x"}, "diff needs OLD and NEW"},
      {{"diff", "x", "y"}, "--by is required"},
  };
  for (const auto& row : rows) {
    CLI::App app("A program.", "program");
    std::string ns;
    bool elect = true;
    int depth = 0;
    app.add_option("--namespace,-n", ns, "Where.");
    app.add_flag("--leader-elect,!--no-leader-elect", elect, "Whether.");
    std::string word;
    app.add_option("--format", word, "How.")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--one", word, "Which.")->check(CLI::IsMember({"1"}));
    CLI::App* run = app.add_subcommand("run", "Runs.");
    run->add_option("--depth", depth, "How deep.");
    run->add_option("--level", depth, "How loud.")->check(CLI::Range(0, 5));
    run->add_option("--kind", word, "What.")->check(CLI::IsMember({"a", "b", "c"}));
    CLI::App* diff = app.add_subcommand("diff", "Compares.");
    diff->add_option("OLD", word, "Before.")->required();
    diff->add_option("NEW", word, "After.")->required();
    diff->add_option("MORE", word, "If you like.");
    diff->add_option("--by", word, "How.")->required();
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
