#include "rbacgen/emit/chart/pattern_cel.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace mandate::rbacgen {
namespace {

TEST(PatternsCel, TranslatesEachFormOfPattern) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"a"}, "x == \"a\""},
      {{"a*"}, "x.startsWith(\"a\")"},
      {{"*a"}, "x.endsWith(\"a\")"},
      {{"*"}, "true"},
      {{"a*b.c"}, "x.matches(\"^a.*b\\\\.c$\")"},
      {{"a", "b*"}, "(x == \"a\" || x.startsWith(\"b\"))"},
      {{"!a"}, "!(x == \"a\")"},
      {{"!a", "b*", "!*c"}, "x.startsWith(\"b\") && !(x == \"a\" || x.endsWith(\"c\"))"},
      {{"a\"\\"}, "x == \"a\\\"\\\\\""},
  };
  for (const auto& [patterns, want] : cases) EXPECT_EQ(PatternsCel(patterns, "x"), want);
}

}  // namespace
}  // namespace mandate::rbacgen
