#include "rbacgen/report/short_diff.h"

#include <gtest/gtest.h>

namespace mandate::rbacgen {
namespace {

TEST(ShortDiffTest, IsEmptyForEqualTexts) {
  EXPECT_EQ(DiffOf("a\nb\n", "a\nb\n").line, 0);
  EXPECT_EQ(DiffOf("", "").text, "");
}

TEST(ShortDiffTest, ShowsTheLinesThatDiffer) {
  const ShortDiff diff = DiffOf("a\nb\nc\n", "a\nx\ny\nc\n");
  EXPECT_EQ(diff.line, 2);
  EXPECT_EQ(diff.text, "@@ -2,1 +2,2 @@\n-b\n+x\n+y\n");
}

TEST(ShortDiffTest, AddsAllLinesOfANewFile) {
  EXPECT_EQ(DiffOf("", "a\n").text, "@@ -1,0 +1,1 @@\n+a\n");
  EXPECT_EQ(DiffOf("a\n", "").text, "@@ -1,1 +1,0 @@\n-a\n");
}

TEST(ShortDiffTest, CountsNoLineForBothEnds) {
  EXPECT_EQ(DiffOf("a\n", "a\na\n").text, "@@ -2,0 +2,1 @@\n+a\n");
}

TEST(ShortDiffTest, LimitsTheNumberOfLines) {
  EXPECT_EQ(DiffOf("1\n2\n3\n", "4\n5\n6", 2).text,
            "@@ -1,3 +1,3 @@\n-1\n(2 more lines)\n+4\n(2 more lines)\n");
}

}  // namespace
}  // namespace mandate::rbacgen
