#include "rbacgen/markers/marker_arguments.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ArgumentSpec kSpecs[] = {
    {"list", ArgumentType::kStrings},
    {"text", ArgumentType::kString},
    {"count", ArgumentType::kInt},
    {"flag", ArgumentType::kBool},
};

absl::StatusOr<Arguments> Parse(std::string_view text) {
  return ParseArguments(kSpecs, Repeated::kLastWins, text);
}

// The error's text; "" if there is none.
std::string ErrorOf(std::string_view text) { return std::string(Parse(text).status().message()); }

TEST(ParseArguments, ReadsLists) {
  const struct {
    std::string_view text;
    std::vector<std::string> want;
  } kCases[] = {
      {"list=", {}},
      {"list={}", {}},
      {"list={ }", {}},
      {"list=a", {"a"}},
      {"list=a;b", {"a", "b"}},
      {"list=a; b;", {"a", "b"}},
      {"list={a, b}", {"a", "b"}},
      {"list={a,}", {"a"}},
      {R"(list="";core)", {"", "core"}},
      {R"(list={"a,b" , `c;d`})", {"a,b", "c;d"}},
      {R"(list=a"b;c"d)", {"a\"b;c\"d"}},
      {"list=a b", {"a b"}},
      {"list=get // why", {"get // why"}},
      {"list=a:b=c", {"a:b=c"}},
      {"list=*", {"*"}},
      {"list=0x10;1.5", {"0x10", "1.5"}},
      {"list=a{b", {"a{b"}},
      {" list = a", {"a"}},
  };
  for (const auto& c : kCases) {
    const auto got = Parse(c.text);
    ASSERT_TRUE(got.ok()) << c.text << ": " << got.status();
    EXPECT_EQ(got->Strings("list"), c.want) << c.text;
    EXPECT_TRUE(got->Has("list"));
  }
}

TEST(ParseArguments, ReadsOtherTypes) {
  const auto got = Parse("text=a b,count=-12,flag=true,list=x");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->String("text"), "a b");
  EXPECT_EQ(got->Int("count"), -12);
  EXPECT_TRUE(got->Bool("flag"));
  EXPECT_THAT(got->Strings("list"), ElementsAre("x"));
}

TEST(ParseArguments, MissingArgumentsAreEmpty) {
  const auto got = Parse("");
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(got->Has("text"));
  EXPECT_EQ(got->String("text"), "");
  EXPECT_THAT(got->Strings("list"), IsEmpty());
  EXPECT_EQ(got->Int("count"), 0);
  EXPECT_FALSE(got->Bool("flag"));
}

TEST(ParseArguments, AnEmptyTextAtTheEndIsAValue) {
  const auto got = Parse("list=a,text=");
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->Has("text"));
}

TEST(ParseArguments, ReportsMistakes) {
  EXPECT_THAT(ErrorOf("lists=a"),
              HasSubstr("unknown argument \"lists\"; the known arguments are list, text,"));
  EXPECT_THAT(ErrorOf("list"), HasSubstr("expected \"=\" after \"list\""));
  EXPECT_THAT(ErrorOf("=a"), HasSubstr("expected the name of an argument"));
  EXPECT_THAT(ErrorOf("list=a,"), HasSubstr("expected the name of an argument, got the end"));
  EXPECT_THAT(ErrorOf("list=a}x"), HasSubstr("expected \",\" or the end of the line, got \"}x\""));
  EXPECT_THAT(ErrorOf("list={a"), HasSubstr("expected \"}\""));
  EXPECT_THAT(ErrorOf("list={a;b}"), HasSubstr("expected \",\" between the items"));
  EXPECT_THAT(ErrorOf(R"(list="a"b)"), HasSubstr("expected \";\" between the items"));
  EXPECT_THAT(ErrorOf(R"(text="a"b)"), HasSubstr("expected \",\""));
  EXPECT_THAT(ErrorOf(R"(list="a)"), HasSubstr("not closed"));
  EXPECT_THAT(ErrorOf(R"(list=a"b)"), HasSubstr("not closed"));
  EXPECT_THAT(ErrorOf(R"(list="\q")"), HasSubstr("not a valid string"));
  EXPECT_THAT(ErrorOf("count=1x"), HasSubstr("must be an integer, got \"1x\""));
  EXPECT_THAT(ErrorOf("count=99999999999999999999"), HasSubstr("must be an integer"));
  EXPECT_THAT(ErrorOf("flag=yes"), HasSubstr("must be true or false"));
  EXPECT_THAT(ErrorOf("list=\xFF"), HasSubstr("not UTF-8"));
}

// controller-gen reads these as "", ";b", ",list=a" and "", which no user means.
TEST(ParseArguments, ReportsMistakesThatControllerGenMisreads) {
  EXPECT_THAT(ErrorOf("list=a ;b"), HasSubstr("has a space before \";\""));
  EXPECT_THAT(ErrorOf("list={a }"), HasSubstr("has a space before \"}\""));
  EXPECT_THAT(ErrorOf("list=a;;b"), HasSubstr("an item of \"list\" has no value"));
  EXPECT_THAT(ErrorOf("text=,list=a"), HasSubstr("argument \"text\" has no value"));
}

TEST(ParseArguments, RepeatedArgumentsAreErrorsOrListed) {
  const auto last = Parse("text=a,text=b");
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->String("text"), "b");
  EXPECT_THAT(ParseArguments(kSpecs, Repeated::kIsError, "text=a,text=b").status().message(),
              HasSubstr("\"text\" is given twice"));
}

TEST(ParseArguments, ReportsMissingRequiredArguments) {
  constexpr ArgumentSpec kRequired[] = {{"verbs", ArgumentType::kStrings, true}};
  EXPECT_THAT(ParseArguments(kRequired, Repeated::kLastWins, "").status().message(),
              HasSubstr("missing argument \"verbs\""));
  EXPECT_TRUE(ParseArguments(kRequired, Repeated::kLastWins, "verbs=").ok());
}

}  // namespace
}  // namespace mandate::rbacgen
