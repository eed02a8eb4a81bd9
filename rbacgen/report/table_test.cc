#include "rbacgen/report/table.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using enum Table::Align;

TEST(Table, AlignsByCharactersWithoutTrailingBlanks) {
  Table table({{"NAME", kLeft}, {"COUNT", kRight}, {"MORE", kLeft}}, /*colour=*/false);
  table.Add({"\u00e9\u00e9\u00e9\u00e9\u00e9", "1", ""});
  table.Add({"a", "12345678", "x\x1b[31m"});
  EXPECT_EQ(table.Write(),
            "NAME      COUNT  MORE\n"
            "\u00e9\u00e9\u00e9\u00e9\u00e9         1\n"
            "a      12345678  x\\x1b[31m\n");
}

TEST(Table, ColoursTitlesAndHighlightsTheLastCell) {
  Table table({{"A", kLeft}, {"B", kRight}}, /*colour=*/true);
  table.Add({"x", "1"});
  table.Add({"y", "2"}, /*highlight=*/true);
  EXPECT_EQ(table.Write(),
            "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n"
            "x  1\n"
            "y  \x1b[31m2\x1b[0m\n");
}

}  // namespace
}  // namespace mandate::rbacgen
