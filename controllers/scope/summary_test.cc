#include "controllers/scope/summary.h"

#include <gtest/gtest.h>

namespace mandate::scope {
namespace {

TEST(Summarise, ShowsTenTexts) {
  EXPECT_EQ(Summarise({}), "");
  EXPECT_EQ(Summarise({"a", "b"}), "a; b");
  EXPECT_EQ(Summarise(std::vector<std::string>(10, "a")), "a; a; a; a; a; a; a; a; a; a");
  EXPECT_EQ(Summarise(std::vector<std::string>(13, "a")),
            "a; a; a; a; a; a; a; a; a; a; and 3 more");
}

TEST(Summary, KeepsOnlyWhatItShows) {
  Summary summary;
  EXPECT_EQ(summary.Text(), "");
  for (int i = 0; i < 1'000'000; ++i) summary.Add("a");
  EXPECT_EQ(summary.size(), 1'000'000u);
  EXPECT_EQ(summary.Text(), "a; a; a; a; a; a; a; a; a; a; and 999990 more");
}

}  // namespace
}  // namespace mandate::scope
