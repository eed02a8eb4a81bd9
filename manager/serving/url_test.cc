#include "manager/serving/url.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

using Query = std::map<std::string, std::string>;

TEST(ParseQueryTest, Table) {
  const struct {
    const char* query;
    Query expected;
  } rows[] = {
      {"", {}},
      {"verbose", {{"verbose", ""}}},
      {"verbose=", {{"verbose", ""}}},
      {"a=1&b=2", {{"a", "1"}, {"b", "2"}}},
      {"exclude=a&exclude=b", {{"exclude", "a,b"}}},
      {"a=%2F%2f+x", {{"a", "// x"}}},
      {"a=%", {{"a", "%"}}},
      {"a=%2", {{"a", "%2"}}},
      {"a=%zz", {{"a", "%zz"}}},
      {"a=b=c", {{"a", "b=c"}}},
      {"&&a&", {{"a", ""}}},
      {"=x", {{"", "x"}}},
  };
  for (const auto& row : rows) EXPECT_EQ(ParseQuery(row.query), row.expected) << row.query;
}

}  // namespace
}  // namespace mandate
