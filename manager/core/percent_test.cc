#include "manager/core/percent.h"

#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(PercentTest, Decodes) {
  EXPECT_EQ(PercentDecode("a%2Fb%2fc", false), "a/b/c");
  EXPECT_EQ(PercentDecode("a+b", false), "a+b");
  EXPECT_EQ(PercentDecode("a+b%2B", true), "a b+");
  EXPECT_EQ(PercentDecode("%25%00", false), std::string("%\0", 2));
  for (const char* bad : {"%", "%2", "a%", "%zz", "%2x", "%-1", "%+1"}) {
    EXPECT_EQ(PercentDecode(bad, false), std::nullopt) << bad;
  }
}

TEST(ParseQueryTest, Table) {
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  const struct {
    const char* query;
    Parameters parameters;
  } rows[] = {
      {"", {}},
      {"verbose", {{"verbose", ""}}},
      {"verbose=", {{"verbose", ""}}},
      {"b=1&a=2", {{"b", "1"}, {"a", "2"}}},
      {"exclude=a&exclude=b", {{"exclude", "a"}, {"exclude", "b"}}},
      {"a=%2F%2f+x", {{"a", "// x"}}},
      {"a=%&b=1", {{"b", "1"}}},
      {"a=%2&b=1", {{"b", "1"}}},
      {"%zz=a&b=1", {{"b", "1"}}},
      {"a=1;b=2&c=3", {{"c", "3"}}},
      {"a=b=c", {{"a", "b=c"}}},
      {"&&a&", {{"a", ""}}},
      {"=x", {{"", "x"}}},
  };
  for (const auto& row : rows) EXPECT_EQ(ParseQuery(row.query), row.parameters) << row.query;
}

}  // namespace
}  // namespace mandate
