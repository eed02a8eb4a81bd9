#include "manager/object/json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using testing::HasSubstr;

std::string RoundTrip(std::string_view text) {
  const auto value = ParseJson(text);
  return value.ok() ? WriteJson(*value) : value.status().ToString();
}

TEST(JsonTest, RoundTripsEveryValue) {
  for (const char* text :
       {"null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "1.0", "0.1", "1e+300", "\"\"", "\"a\\nb\"", "[]", "{}",
        "[1,[2,{}]]", R"({"a":1,"b":{"c":[null,true]}})"}) {
    EXPECT_EQ(RoundTrip(text), text);
  }
}

TEST(JsonTest, WritesSortedAndCompact) {
  EXPECT_EQ(RoundTrip("{ \"b\" : 1 ,\n \"a\" : [ 2 ] }"), R"({"a":[2],"b":1})");
}

TEST(JsonTest, KeepsStringsWithZeroBytes) {
  EXPECT_EQ(RoundTrip(R"(["a\u0000b"])"), R"(["a\u0000b"])");
}

TEST(JsonTest, RefusesWhatJsoncppWouldTake) {
  EXPECT_THAT(RoundTrip(R"({"a":1,"a":2})"), HasSubstr("duplicate key \"a\""));
  EXPECT_THAT(RoundTrip("{} x"), HasSubstr("expected nothing after the value"));
  EXPECT_THAT(RoundTrip("/**/{}"), HasSubstr("line 1, column 1"));
  EXPECT_THAT(RoundTrip("[1e999]"),
              HasSubstr("line 1, column 2: the number 1e999 is out of range"));
  EXPECT_THAT(RoundTrip(std::string(2000, '[')), HasSubstr("nested deeper"));
}

TEST(JsonTest, FindsMembersWithoutThrowing) {
  const auto value = ParseJson(R"({"a":1})");
  ASSERT_TRUE(value.ok());
  ASSERT_NE(FindMember(*value, "a"), nullptr);
  EXPECT_EQ(FindMember(*value, "a")->asInt(), 1);
  EXPECT_EQ(FindMember(*value, "b"), nullptr);
  EXPECT_EQ(FindMember(Json::Value("text"), "a"), nullptr);
}

}  // namespace
}  // namespace mandate
