#include "rbacgen/markers/text.h"

#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(UnquoteGo, DecodesGoLiterals) {
  const struct {
    std::string_view literal;
    std::optional<std::string> want;
  } kCases[] = {
      {R"("")", ""},
      {R"("a b")", "a b"},
      {"`a\\n\"`", "a\\n\""},
      {"`a\rb`", "ab"},
      {R"("\a\b\f\n\r\t\v\\\"")", "\a\b\f\n\r\t\v\\\""},
      {R"("\101\x42\u0043\U00000044")", "ABCD"},
      {R"("\u00e9\u20ac\U0001F600")", "\u00e9\u20ac\U0001F600"},
      {R"("\xc3\xa9")", "\u00e9"},
      {R"("\xc3")", std::nullopt},  // not UTF-8
      {R"("\ue000\U0010FFFF")", "\ue000\U0010FFFF"},
      {R"("\ud800")", std::nullopt},  // half of a surrogate
      {R"("\udfff")", std::nullopt},
      {R"("\U00110000")", std::nullopt},  // beyond Unicode
      {R"("\'")", std::nullopt},
      {R"("\q")", std::nullopt},
      {R"("\x4")", std::nullopt},
      {R"("\400")", std::nullopt},
      {R"("\08")", std::nullopt},
      {R"("a"b")", std::nullopt},
      {R"("a)", std::nullopt},
      {R"(")", std::nullopt},
      {R"('a')", std::nullopt},
      {"`a`b`", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& c : kCases) {
    std::string value;
    EXPECT_EQ(UnquoteGo(c.literal, &value), c.want.has_value()) << c.literal;
    EXPECT_EQ(c.want.value_or(value), value) << c.literal;
  }
}

TEST(IsUtf8, RejectsInvalidUtf8) {
  EXPECT_TRUE(IsUtf8("a\u00e9\u20ac\U0001F600"));
  EXPECT_FALSE(IsUtf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(IsUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsUtf8("\xF4\x90\x80\x80"));  // beyond Unicode
  EXPECT_FALSE(IsUtf8("\xE2\x82"));          // cut short
  EXPECT_FALSE(IsUtf8("\x80"));
}

TEST(HasOpenString, FindsUnclosedLiterals) {
  for (const char* open : {"\"", "a=\"b", "a=`b\"", "a=\"b\\\"", "a=\"b\\"}) {
    EXPECT_TRUE(HasOpenString(open)) << open;
  }
  for (const char* closed : {"", "a", "\"a\"", "`\"`", "\"`\"", "\"\\\"\"", "`\\`"}) {
    EXPECT_FALSE(HasOpenString(closed)) << closed;
  }
}

TEST(Quoted, EscapesForCppLiterals) {
  EXPECT_EQ(Quoted("a\"b\\c\nd\x01\x7f\u00e9"), "\"a\\\"b\\\\c\\nd\\001\\177\u00e9\"");
}

TEST(IsDnsLabel, AcceptsOnlyDnsLabels) {
  EXPECT_TRUE(IsDnsLabel("scope-instance"));
  for (const char* bad : {"", "-a", "a-", "A", "a.b"}) EXPECT_FALSE(IsDnsLabel(bad)) << bad;
}

}  // namespace
}  // namespace mandate::rbacgen
