#include "rbacgen/yaml/yaml_scalar.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(YamlScalar, ChoosesTheStyleOfSigsYaml) {
  const struct {
    std::string_view text, want;
  } kCases[] = {
      {"", R"("")"},
      {"get", "get"},
      {"*", "'*'"},
      {"it's", "it's"},
      {"'q'", "'''q'''"},
      {"a: b", "'a: b'"},
      {"a:b", "a:b"},
      {"a:", "'a:'"},
      {"a #b", "'a #b'"},
      {"a#", "a#"},
      {"-", "'-'"},
      {"-x", "-x"},
      {"- x", "'- x'"},
      {"?x", "?x"},
      {"--- a", "'--- a'"},
      {"[x", "'[x'"},
      {"x,", "x,"},
      {"%x", "'%x'"},
      {"a b", "a b"},
      {" a", "' a'"},
      {"a ", "'a '"},
      {"\ta", R"("\ta")"},
      {"a\x01", R"("a\x01")"},
      {"\u00e9", "\u00e9"},
      {"\ufeff", R"("\uFEFF")"},
      {"\uff21", "\uff21"},
      {"\u4f7f", "\u4f7f"},
      {"\ufffd", "\ufffd"},
      {"\uffff", R"("\uFFFF")"},
      {"\u0085", R"("\N")"},
      {"\u00a0", "\u00a0"},
      {"\u2027", "\u2027"},
      {"\u2028", R"("\L")"},
      {"\u2029", R"("\P")"},
      {"\U0001F600", R"("\U0001F600")"},
      {"yes", R"("yes")"},
      {"oN", "oN"},
      {"~", R"("~")"},
      {"null", R"("null")"},
      {"1", R"("1")"},
      {"1_000", R"("1_000")"},
      {"0x1F", R"("0x1F")"},
      {"08", R"("08")"},
      {"0b12", "0b12"},
      {"1.2", R"("1.2")"},
      {"1e3", R"("1e3")"},
      {"1e400", "1e400"},
      {"1.2.3", "1.2.3"},
      {".5", R"(".5")"},
      {"._5", "._5"},
      {".inf", R"(".inf")"},
      {"nan", "nan"},
      {"+", "+"},
      {"1:20", R"("1:20")"},
      {"-1:20", R"("-1:20")"},
      {"+1:20.5", R"("+1:20.5")"},
      {"1:60", "1:60"},
      {"1:2a", "1:2a"},
      {"2020-01-01", R"("2020-01-01")"},
      {"2021-02-29", "2021-02-29"},
      {"2020-1-2T3:4:5Z", R"("2020-1-2T3:4:5Z")"},
      {"2020-1-2T3:4:5+01:00", R"("2020-1-2T3:4:5+01:00")"},
      {"2020-1-2t3:4:5-24:60", R"("2020-1-2t3:4:5-24:60")"},
      {"2020-1-2T3:4:5+25:00", "2020-1-2T3:4:5+25:00"},
      {"2020-1-2T3:4:5+01:61", "2020-1-2T3:4:5+01:61"},
      {"2020-1-2T3:4:5+1:00", "2020-1-2T3:4:5+1:00"},
      {"2020-1-2T3:4:5+010:0", "2020-1-2T3:4:5+010:0"},
      {"2020-1-2T3:4:5+01:0x", "2020-1-2T3:4:5+01:0x"},
      {"2020-1-2T3:4:5501:00", "2020-1-2T3:4:5501:00"},
      {"2020-1-2T3:4:5", "2020-1-2T3:4:5"},
      {"2020-1-2 3:4:5.5", R"("2020-1-2 3:4:5.5")"},
      {"2020-1-2T3:4:5.", "2020-1-2T3:4:5."},
      {"18446744073709551616", R"("18446744073709551616")"},
      {"a\nb", "|-\n    a\n    b"},
      {"a\n", "|\n    a\n"},
      {"\n a\n\n", "|2+\n\n     a\n\n"},
      {"a \nb", R"("a \nb")"},
  };
  for (const auto& c : kCases) EXPECT_EQ(YamlScalar(c.text, 4, 4), c.want) << c.text;
}

TEST(YamlScalar, FoldsAtTheFirstBlankBeyondColumn80) {
  const std::string word(78, 'w');
  EXPECT_EQ(YamlScalar(word + " a b", 2, 0), word + " a b");
  EXPECT_EQ(YamlScalar(word + " aa b", 2, 0), word + " aa\n  b");
  EXPECT_EQ(YamlScalar(word + " aa  b", 2, 0), word + " aa  b");
  EXPECT_EQ(YamlScalar(word + " a b", 2, 1), word + " a\n  b");
  EXPECT_EQ(YamlScalar("#" + word + " a b", 2, 0), "'#" + word + " a\n  b'");
  EXPECT_EQ(YamlScalar("\t" + word.substr(1) + " a  b", 2, 0),
            "\"\\t" + word.substr(1) + " a\n  \\ b\"");
}

}  // namespace
}  // namespace mandate::rbacgen
