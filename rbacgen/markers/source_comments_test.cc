#include "rbacgen/markers/source_comments.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

struct Case {
  std::string name;
  Language language;
  std::string source;
  std::vector<std::string> want;  // "line text"; "doc" or "after" before the text of such comments
};

class FindPlusCommentsTest : public testing::TestWithParam<Case> {};

TEST_P(FindPlusCommentsTest, FindsTheCommentsOfTheCase) {
  std::vector<std::string> got;
  for (const PlusComment& c : FindPlusComments(GetParam().source, GetParam().language)) {
    const char* place = c.place == CommentPlace::kOwnLine     ? ""
                        : c.place == CommentPlace::kDoc       ? "doc "
                        : c.place == CommentPlace::kContinued ? "more "
                                                              : "after ";
    got.push_back(StrCat(c.line, " ", place, c.text));
  }
  EXPECT_THAT(got, testing::ElementsAreArray(GetParam().want));
}

constexpr auto kC = Language::kC;
constexpr auto kGo = Language::kGo;
constexpr auto kRust = Language::kRust;

INSTANTIATE_TEST_SUITE_P(
    Table, FindPlusCommentsTest,
    testing::ValuesIn(std::vector<Case>{
        {"Empty", kC, "", {}},
        {"OwnLine", kC, "// +a\n  //+b  \r\n\t//\t+c", {"1 +a", "2 +b", "3 +c"}},
        {"ByteOrderMark", kGo, "\xEF\xBB\xBF// +a\n\xEF\xBB\xBF// +b\n", {"1 +a", "2 after +b"}},
        {"OnlyPlus", kC, "// a +b\n// -c\n//\n// + d\n", {"4 + d"}},
        {"Continued",
         kC,
         "// a\n// +b\n//   c \n// d\n//\n// e\n// +f\n\n// g\nx // +h\n// i\n",
         {"2 +b", "3 more c", "4 more d", "7 +f", "10 after +h"}},
        {"DocComments", kRust, "/// +a\n//! +b\n//// +c\n", {"1 doc +a", "2 doc +b"}},
        {"BehindAFunction",
         kGo,
         "func f() {\n\tif x {\n\t} // +a\n} // +b\ntype T struct {\n} // +c\nvar v = g{\n} // +d\n"
         "func (T) h() {\nretry:\n}  // +e\nfunc i() {} // +f\n",
         {"3 after +a", "4 +b", "6 after +c", "8 after +d", "11 +e", "12 +f"}},
        {"BehindAFunctionOfC", kC, "void f() {\n} // +a\n", {"2 after +a"}},
        {"AfterCode", kC, "int x;  // +a\n{ // +b\n// +c", {"1 after +a", "2 after +b", "3 +c"}},
        {"BlockComment", kC, "/* // +a\n// +b\n*/ // +c\n/**/ x // +d\n", {"3 +c", "4 after +d"}},
        {"BlockCommentsDoNotNestInC", kC, "/* /* */\n// +a\n", {"2 +a"}},
        {"BlockCommentsNestInRust", kRust, "/* /* */\n// +a\n*/\n// +b\n", {"4 +b"}},
        {"SlashesInStrings", kC, "f(\"// +a\", \"\\\"// +b\");\n// +c\n", {"2 +c"}},
        {"CommentOpenerInString", kC, "f(\"/*\"); g('\"');\n// +a\n", {"2 +a"}},
        {"UnterminatedStringEndsWithTheLine", kC, "#error don't\n// +a\n", {"2 +a"}},
        {"ContinuedString", kC, "f(\"\\\n// +a\\\n\");\n// +b\n", {"4 +b"}},
        {"RawStringC", kC, "auto s = R\"x(\n// +a\n)y\"\n// +b\n)x\";\n// +c\n", {"6 +c"}},
        {"RawStringWithPrefix", kC, "auto s = u8R\"(\n// +a\n)\";\n// +b\n", {"4 +b"}},
        {"MacroEndingInRIsNoRawString", kC, "FOOR\"(\";\n// +a\n", {"2 +a"}},
        {"DigitSeparators",
         kC,
         "int x = 1'000'000;\nint y = 0x1F'FF; // +a\n// +b\n",
         {"2 after +a", "3 +b"}},
        {"CharacterPrefix", kC, "auto c = u8'\"';\n// +a\n", {"2 +a"}},
        {"RawStringGo", kGo, "var s = `\n// +a\n\\`\n// +b\n", {"4 +b"}},
        {"BackquoteIsNothingInC", kC, "#define T `\n// +a\n", {"2 +a"}},
        {"RuneGo", kGo, "x := '`'\ny := '\\''\n// +a\n", {"3 +a"}},
        {"RawStringRust", kRust, "let s = r#\"\n// +a\n\" // +b\n\"#;\n// +c\n", {"5 +c"}},
        {"StringOverLinesRust", kRust, "let s = \"\n// +a\n\";\n// +b\n", {"4 +b"}},
        {"LifetimesRust", kRust, "fn f<'a>(x: &'a str) -> char { '\"' }\n// +a\n", {"2 +a"}},
        {"LifetimeAloneRust",
         kRust,
         "fn f<'a>() {  // +a\n'b: loop {  // +b\n",
         {"1 after +a", "2 after +b"}},
        {"LifetimeAtTheEndRust", kRust, "// +a\nf::<'a", {"1 +a"}},
        {"EscapedCharRust", kRust, "let c = '\\'';\nlet d = '\xC3\xA9';\n// +a\n", {"3 +a"}},
        {"TemplateScript", Language::kScript, "let s = `\n// +a \\`\n// +b\n`;\n// +c\n", {"5 +c"}},
        {"TextBlock", Language::kTextBlock, "var s = \"\"\"\n// +a\n\"\"\";\n// +b\n", {"4 +b"}},
        {"UnterminatedRawString", kC, "R\"x(\n// +a\n", {}},
        {"UnterminatedBlockComment", kRust, "/*\n// +a\n", {}},
    }),
    [](const auto& info) { return info.param.name; });

TEST(LanguageOf, DependsOnTheSuffix) {
  EXPECT_EQ(LanguageOf("a/b.go"), Language::kGo);
  EXPECT_EQ(LanguageOf("a/b.pb.cc"), Language::kC);
  EXPECT_EQ(LanguageOf("a.rs"), Language::kRust);
  EXPECT_EQ(LanguageOf("a.go/b"), Language::kPlain);
  EXPECT_TRUE(IsSource("a.proto"));
  EXPECT_FALSE(IsSource("a.py"));
  EXPECT_FALSE(IsSource("Makefile"));
}

}  // namespace
}  // namespace mandate::rbacgen
