#include "manager/core/help_formatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::Not;

class HelpFormatterTest : public testing::Test {
 protected:
  HelpFormatterTest() { app_.formatter(std::make_shared<HelpFormatter>()); }

  CLI::App app_{"A program."};
};

TEST_F(HelpFormatterTest, LinesHaveAtMostAHundredColumns) {
  std::string value;
  std::string words;
  for (int i = 0; i < 100; ++i) words += "ünïcode ";
  app_.add_option("--a-flag-with-a-name-that-is-longer-than-the-left-column", value, words);
  std::istringstream help(app_.help());
  for (std::string line; std::getline(help, line);) {
    size_t columns = 0;
    for (const unsigned char c : line) columns += (c & 0xC0) != 0x80;
    EXPECT_LE(columns, 100u) << line;
  }
}

TEST_F(HelpFormatterTest, SaysValuesAndDefaultsWithoutTypes) {
  std::string address = "127.0.0.1:80", format = "text";
  int level = 0;
  std::vector<std::string> names = {"*"};
  app_.add_option("--address", address, "Where.")->type_name("HOST:PORT")->capture_default_str();
  app_.add_option("--format", format, "How.")->check(CLI::IsMember({"text", "json"}));
  app_.add_option("--level", level, "How much.")->check(CLI::Range(0, 5));
  app_.add_option("--size", level, "How big.")->check(CLI::NonNegativeNumber);
  app_.add_option("--names", names, "Which.")->delimiter(',')->capture_default_str();
  const std::string help = app_.help();
  EXPECT_THAT(help, HasSubstr("--address HOST:PORT"));
  EXPECT_THAT(help, HasSubstr("Where. (default: 127.0.0.1:80)"));
  EXPECT_THAT(help, HasSubstr("--format VALUE"));
  EXPECT_THAT(help, HasSubstr("How. (one of text, json)"));
  EXPECT_THAT(help, HasSubstr("How much. (0 to 5)"));
  EXPECT_THAT(help, HasSubstr("--size VALUE"));
  EXPECT_THAT(help, HasSubstr("Which. (default: *)"));
  for (const char* type : {"TEXT", "INT", "[", "{"}) {
    EXPECT_THAT(help.substr(help.find("--address")), Not(HasSubstr(type)));
  }
}

}  // namespace
}  // namespace mandate
